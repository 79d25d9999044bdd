import { randomUUID } from 'node:crypto';
import { idempotencyKeyToolArgumentName, ifMatchToolArgumentName, type McpTool } from '@mandate/contract/tools';
import { z } from 'zod';
import { formatCompactResult } from './format-compact-result.ts';
import type { InProcessResponse, InProcessRequest } from './send-in-process-request.ts';

export type ToolResult = {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  /** The response body of a tool with an output schema. */
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
};

type Arguments = Readonly<Record<string, unknown>>;

/** Builds the API request for a tool call. */
export function apiRequestFromToolCall(tool: McpTool, toolArguments: Arguments): InProcessRequest {
  const path = tool.pathArguments.reduce(
    (template, name) => template.replace(`{${name}}`, encodeURIComponent(toText(toolArguments[name]))),
    tool.path,
  );
  const query = new URLSearchParams(
    tool.queryArguments.flatMap((name) =>
      toolArguments[name] === undefined ? [] : [[name, toText(toolArguments[name])] as [string, string]],
    ),
  ).toString();
  const nonBodyArguments = new Set([
    ...tool.pathArguments,
    ...tool.queryArguments,
    idempotencyKeyToolArgumentName,
    ifMatchToolArgumentName,
  ]);
  const body = Object.fromEntries(Object.entries(toolArguments).filter(([name]) => !nonBodyArguments.has(name)));
  return {
    method: tool.method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      accept: 'application/json, application/problem+json',
      ...(tool.hasBody && { 'content-type': 'application/json' }),
      ...(tool.keyed && { 'idempotency-key': toText(toolArguments[idempotencyKeyToolArgumentName] ?? randomUUID()) }),
      ...(tool.conditional &&
        toolArguments[ifMatchToolArgumentName] !== undefined && { 'if-match': toText(toolArguments[ifMatchToolArgumentName]) }),
    },
    ...(tool.hasBody && { body: JSON.stringify(body) }),
  };
}

const toText = (value: unknown): string =>
  typeof value === 'string' ? value : Array.isArray(value) ? value.map(toText).join(',') : JSON.stringify(value);

const objectSchema = z.record(z.unknown());
const problemSchema = z.object({
  code: z.string(),
  title: z.string(),
  detail: z.string().optional(),
  errors: z.array(z.object({ approvable: z.boolean().optional(), approval_id: z.number().optional() }).passthrough()).optional(),
});

/** Converts an API response to a tool result. Errors are also tool results, because they tell the assistant what to do. */
export function toolResultFromApiResponse(tool: McpTool, { status, header, text }: InProcessResponse): ToolResult {
  if (status >= 400) return { ...textResult(errorText(tool, status, text)), isError: true };
  const etag = header('etag');
  const body = tool.outputSchema && objectSchema.parse(parseJson(text));
  const texts = [
    body ? formatCompactResult(body) : text === '' ? 'Done.' : text,
    ...(etag === undefined || !tool.readOnly ? [] : [`etag: ${etag}`]),
  ];
  return { content: texts.flatMap((one) => textResult(one).content), ...(body && { structuredContent: body }) };
}

const textResult = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });

function errorText({ scopes }: McpTool, status: number, text: string): string {
  const parsed = problemSchema.safeParse(parseJson(text));
  if (!parsed.success) return `The service answered with status ${status}.`;
  const hint = parsed.data.errors?.map(approvalHint).find((one) => one !== undefined);
  if (hint !== undefined) return `${text}\nhint: ${hint}`;
  if (parsed.data.code !== 'insufficient_scope') return text;
  return `${text}\nhint: The person has not allowed this. Ask them to sign in again with the scope ${scopes.join(' or ')}.`;
}

/** Returns how an assistant can get the customer's approval of an order that exceeds a limit; undefined if it cannot. */
function approvalHint({
  approvable,
  approval_id: id,
}: {
  readonly approvable?: boolean | undefined;
  readonly approval_id?: number | undefined;
}) {
  if (approvable !== true) return undefined;
  const wait =
    'The person receives an e-mail and decides on a page of the shop. Call approvals_get with wait=30 until the status is no longer pending. If it is approved, call orders_create with only quote_id';
  if (id !== undefined)
    return `Approval ${id} exists; read its status with approvals_get. ${wait}. After a refusal, do not ask for the same order again.`;
  return `Do not split the order. Tell the person the total and which limit it exceeds, and offer to request their approval: call quotes_create with the same items and delivery, then approvals_create with its id as quote_id. ${wait}.`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
