import { randomUUID } from 'node:crypto';
import {
  ApiError,
  AuthorizationError,
  ConnectionError,
  filledPath,
  MandateError,
  SignInRequiredError,
  TimeoutError,
  type Client,
  type QueryValue,
} from '@mandate/client-sdk';
import type { Io } from '../environment.ts';
import { withProfile } from '../settings/settings.ts';
import type { Tool } from './tool.ts';

export type ToolResult = { readonly content: { readonly type: 'text'; readonly text: string }[]; readonly isError?: boolean };
type Arguments = Readonly<Record<string, unknown>>;

const headerArguments = ['idempotency_key', 'if_match'];

/** Calls a tool as whoever is signed in. A refusal is a result, too: it says what to do about it. */
export async function callTool(io: Io, client: Client, tool: Tool, given: Arguments): Promise<ToolResult> {
  const elsewhere = new Set([...tool.pathArguments, ...tool.queryArguments, ...headerArguments]);
  const [key, ifMatch] = headerArguments.map((name) => (typeof given[name] === 'string' ? given[name] : undefined));
  const request = {
    method: tool.method,
    path: filledPath(
      tool.path,
      tool.pathArguments.map((name) => String(given[name])),
    ),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the tool's schema: texts, numbers and lists of them
    query: Object.fromEntries(tool.queryArguments.map((name) => [name, given[name]])) as Record<string, QueryValue>,
    ...(tool.hasBody && { body: Object.fromEntries(Object.entries(given).filter(([name]) => !elsewhere.has(name))) }),
  };
  const idempotencyKey = tool.keyed ? (key ?? randomUUID()) : undefined;
  try {
    const { data, headers } = await client.request(request, { signal: io.interrupted, idempotencyKey, ifMatch }).withResponse();
    const etag = tool.readOnly ? headers.get('etag') : null;
    return textResult(data === undefined ? 'Done.' : JSON.stringify(data), ...(etag === null ? [] : [`etag: ${etag}`]));
  } catch (error) {
    return { ...textResult(withProfile(io, refusal(error, tool, idempotencyKey))), isError: true };
  }
}

const textResult = (...texts: string[]): ToolResult => ({ content: texts.map((text) => ({ type: 'text', text })) });

function refusal(error: unknown, { scopes }: Tool, idempotencyKey: string | undefined): string {
  if (error instanceof ApiError) {
    const { code, status, title, detail, errors, requestId } = error;
    const told = JSON.stringify({ code, status, title, detail, ...(errors.length > 0 && { errors }), request_id: requestId });
    if (status === 401) return `${told}\nhint: Ask the person to sign in again: mandate login`;
    return code === 'insufficient_scope' && scopes[0]
      ? `${told}\nhint: Ask the person to allow it: mandate login --scopes +${scopes[0]}`
      : told;
  }
  if (error instanceof SignInRequiredError || error instanceof AuthorizationError)
    return `${error.message}\nhint: Ask the person to sign in: mandate login`;
  if ((error instanceof ConnectionError || error instanceof TimeoutError) && idempotencyKey !== undefined)
    return `${error.message}\nhint: It is not known whether it was carried out. Repeat the call with idempotency_key ${idempotencyKey}`;
  if (error instanceof MandateError) return error.message;
  throw error;
}
