import { isJsonObject, type JsonObject } from '../schema/json.ts';
import { describeApiError, parseProblem, type AccessAdvice, type ToolResponse } from './describe-api-error.ts';
import { formatCompactResult } from './format-compact-result.ts';
import { idempotencyKeyToolArgumentName, ifMatchToolArgumentName, type McpTool } from './mcp-tool-type.ts';

/** The API request for a tool call. */
export type ToolRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: JsonObject | undefined;
  /** The key that the assistant passed, or a random key; `undefined` if the operation accepts no `Idempotency-Key`. */
  readonly idempotencyKey: string | undefined;
  readonly ifMatch: string | undefined;
};

export type ToolResult = {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  /** Response body; present only if the tool has an output schema. */
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
};

/** Builds the API request for a tool call. */
export function toolRequestFromCall(tool: McpTool, toolArguments: Readonly<Record<string, unknown>>): ToolRequest {
  const given = Object.entries(toolArguments).filter(([, value]) => value !== undefined);
  const nonBodyArguments = new Set([
    ...tool.pathArguments,
    ...tool.queryArguments,
    idempotencyKeyToolArgumentName,
    ifMatchToolArgumentName,
  ]);
  const [key, etag] = [toolArguments[idempotencyKeyToolArgumentName], toolArguments[ifMatchToolArgumentName]];
  return {
    method: tool.method,
    path: tool.pathArguments.reduce(
      (template, name) => template.replace(`{${name}}`, encodeURIComponent(toText(toolArguments[name]))),
      tool.path,
    ),
    query: Object.fromEntries(given.filter(([name]) => tool.queryArguments.includes(name)).map(([name, value]) => [name, toText(value)])),
    body: tool.hasBody ? toJsonObject(Object.fromEntries(given.filter(([name]) => !nonBodyArguments.has(name)))) : undefined,
    idempotencyKey: tool.keyed ? (key === undefined ? crypto.randomUUID() : toText(key)) : undefined,
    ifMatch: tool.conditional && etag !== undefined ? toText(etag) : undefined,
  };
}

const toText = (value: unknown): string =>
  typeof value === 'string' ? value : Array.isArray(value) ? value.map(toText).join(',') : JSON.stringify(value);

function toJsonObject(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new TypeError('the response of a tool with an output schema must be an object');
  return value;
}

/** Key of the problem details in a tool result. Assistants do not show problem details to the language model. */
const problemMetaKey = 'mandate/problem';

/**
 * Converts an API response to a tool result. Errors are also returned as tool results, because their texts tell the assistant what to do.
 */
export function toolResultFromResponse(tool: McpTool, response: ToolResponse, advice?: AccessAdvice): ToolResult {
  const { status, header, text } = response;
  if (status >= 400) {
    const problem = parseProblem(text);
    return { ...createErrorToolResult(describeApiError(tool, response, advice)), ...(problem && { _meta: { [problemMetaKey]: problem } }) };
  }
  const etag = header('etag');
  const body = tool.outputSchema && toJsonObject(JSON.parse(text));
  const texts = [
    body ? formatCompactResult(body) : text === '' ? 'Done.' : text,
    ...(etag === undefined || !tool.readOnly ? [] : [`etag: ${etag}`]),
  ];
  return { content: texts.map(textContent), ...(body && { structuredContent: body }) };
}

/** Creates a tool result that reports why a call failed. */
export const createErrorToolResult = (reason: string): ToolResult => ({ content: [textContent(reason)], isError: true });

const textContent = (text: string) => ({ type: 'text', text }) as const;
