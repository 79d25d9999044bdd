import { randomUUID } from 'node:crypto';
import { keyArgument, conditionArgument, type Tool } from '@mandate/contract/tools';
import { z } from 'zod';
import type { InnerAnswer, InnerRequest } from './in-process-request.ts';

export type ToolResult = { readonly content: { readonly type: 'text'; readonly text: string }[]; readonly isError?: boolean };

type Arguments = Readonly<Record<string, unknown>>;

/** The request that a call of a tool makes. */
export function requestOf(tool: Tool, given: Arguments): InnerRequest {
  const inPath = tool.pathArguments.reduce((path, name) => path.replace(`{${name}}`, encodeURIComponent(textOf(given[name]))), tool.path);
  const query = new URLSearchParams(
    tool.queryArguments.flatMap((name) => (given[name] === undefined ? [] : [[name, textOf(given[name])] as [string, string]])),
  ).toString();
  const elsewhere = new Set([...tool.pathArguments, ...tool.queryArguments, keyArgument, conditionArgument]);
  const body = Object.fromEntries(Object.entries(given).filter(([name]) => !elsewhere.has(name)));
  return {
    method: tool.method,
    path: query === '' ? inPath : `${inPath}?${query}`,
    headers: {
      accept: 'application/json, application/problem+json',
      ...(tool.hasBody && { 'content-type': 'application/json' }),
      ...(tool.keyed && { 'idempotency-key': textOf(given[keyArgument] ?? randomUUID()) }),
      ...(tool.conditional && given[conditionArgument] !== undefined && { 'if-match': textOf(given[conditionArgument]) }),
    },
    ...(tool.hasBody && { body: JSON.stringify(body) }),
  };
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : Array.isArray(value) ? value.map(textOf).join(',') : JSON.stringify(value);

const problem = z.object({ code: z.string(), title: z.string(), detail: z.string().optional() });

/** What the assistant reads. A refusal is a result, too: it says what to do about it. */
export function resultOf(tool: Tool, { status, header, text }: InnerAnswer): ToolResult {
  if (status >= 400) return { ...textResult(refusal(tool, status, text)), isError: true };
  const etag = header('etag');
  const result = textResult(text === '' ? 'Done.' : text);
  return etag === undefined || !tool.readOnly ? result : { content: [...result.content, ...textResult(`etag: ${etag}`).content] };
}

const textResult = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });

function refusal({ scopes }: Tool, status: number, text: string): string {
  const parsed = problem.safeParse(jsonOf(text));
  if (!parsed.success) return `The service answered with status ${status}.`;
  if (parsed.data.code !== 'insufficient_scope') return text;
  return `${text}\nhint: The person has not allowed this. Ask them to sign in again with the scope ${scopes.join(' or ')}.`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
