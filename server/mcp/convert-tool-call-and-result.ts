import { randomUUID } from 'node:crypto';
import { idempotencyKeyToolArgumentName, ifMatchToolArgumentName, type McpTool } from '@mandate/contract/tools';
import { z } from 'zod';
import { describeRefusal, parseProblem } from './describe-refusal.ts';
import { formatCompactResult } from './format-compact-result.ts';
import type { InProcessResponse, InProcessRequest } from './send-in-process-request.ts';

export type ToolResult = {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  /** The response body of a tool with an output schema. */
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
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

/** Key of the problem details in a tool result. Assistants do not show these to the language model. */
const problemMetaKey = 'mandate/problem';

/** Converts an API response to a tool result. Errors are also tool results, because they tell the assistant what to do. */
export function toolResultFromApiResponse(tool: McpTool, response: InProcessResponse): ToolResult {
  const { status, header, text } = response;
  if (status >= 400) {
    const problem = parseProblem(text);
    return { ...textResult(describeRefusal(tool, response)), isError: true, ...(problem && { _meta: { [problemMetaKey]: problem } }) };
  }
  const etag = header('etag');
  const body = tool.outputSchema && objectSchema.parse(JSON.parse(text));
  const texts = [
    body ? formatCompactResult(body) : text === '' ? 'Done.' : text,
    ...(etag === undefined || !tool.readOnly ? [] : [`etag: ${etag}`]),
  ];
  return { content: texts.flatMap((one) => textResult(one).content), ...(body && { structuredContent: body }) };
}

const textResult = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });
