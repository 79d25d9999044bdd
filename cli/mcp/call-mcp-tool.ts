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
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { addProfileToLoginHint } from '../settings/resolve-settings.ts';
import type { McpTool } from './tools.gen.ts';

export type ToolResult = { readonly content: { readonly type: 'text'; readonly text: string }[]; readonly isError?: boolean };
type Arguments = Readonly<Record<string, unknown>>;

const headerArguments = ['idempotency_key', 'if_match'];

/** Calls the API operation of a tool as the signed-in user. Errors are returned as results that tell the assistant what to do. */
export async function callMcpTool(io: CliEnvironment, client: Client, tool: McpTool, args: Arguments): Promise<ToolResult> {
  const parameterNames = new Set([...tool.pathArguments, ...tool.queryArguments, ...headerArguments]);
  const [key, ifMatch] = headerArguments.map((name) => (typeof args[name] === 'string' ? args[name] : undefined));
  const request = {
    method: tool.method,
    path: filledPath(
      tool.path,
      tool.pathArguments.map((name) => String(args[name])),
    ),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- validated by the tool's schema: strings, numbers and lists of them
    query: Object.fromEntries(tool.queryArguments.map((name) => [name, args[name]])) as Record<string, QueryValue>,
    ...(tool.hasBody && { body: Object.fromEntries(Object.entries(args).filter(([name]) => !parameterNames.has(name))) }),
  };
  const idempotencyKey = tool.keyed ? (key ?? randomUUID()) : undefined;
  try {
    const { data, headers } = await client.request(request, { signal: io.interrupted, idempotencyKey, ifMatch }).withResponse();
    const etag = tool.readOnly ? headers.get('etag') : null;
    return textResult(data === undefined ? 'Done.' : JSON.stringify(data), ...(etag === null ? [] : [`etag: ${etag}`]));
  } catch (error) {
    return { ...textResult(addProfileToLoginHint(io, describeError(error, tool, idempotencyKey))), isError: true };
  }
}

const textResult = (...texts: string[]): ToolResult => ({ content: texts.map((text) => ({ type: 'text', text })) });

function describeError(error: unknown, { scopes }: McpTool, idempotencyKey: string | undefined): string {
  if (error instanceof ApiError) {
    const { code, status, title, detail, errors, requestId } = error;
    const problem = JSON.stringify({ code, status, title, detail, ...(errors.length > 0 && { errors }), request_id: requestId });
    if (status === 401) return `${problem}\nhint: Ask the user to sign in again with: mandate login`;
    return code === 'insufficient_scope' && scopes[0]
      ? `${problem}\nhint: Ask the user to grant the scope with: mandate login --scopes +${scopes[0]}`
      : problem;
  }
  if (error instanceof SignInRequiredError || error instanceof AuthorizationError)
    return `${error.message}\nhint: Ask the user to sign in with: mandate login`;
  if ((error instanceof ConnectionError || error instanceof TimeoutError) && idempotencyKey !== undefined)
    return `${error.message}\nhint: The request may have been executed. Retry the call with idempotency_key ${idempotencyKey}`;
  if (error instanceof MandateError) return error.message;
  throw error;
}
