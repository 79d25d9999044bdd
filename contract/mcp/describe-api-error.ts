import { isJsonObject, jsonPrimitiveToText, type JsonObject } from '../schema/json.ts';
import type { McpTool } from './mcp-tool-type.ts';

/** The API response of a tool call. */
export type ToolResponse = { readonly status: number; readonly header: (name: string) => string | undefined; readonly text: string };

/** Texts that explain how the user can give the assistant the missing access. Each text completes a sentence. */
export type AccessAdvice = {
  readonly missingScope: (scopes: readonly string[]) => string;
  /** Advice for a missing or invalid token; `undefined` if the client signs the user in automatically. */
  readonly missingToken?: string;
};

type ApiProblem = {
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly { readonly argument: string | undefined; readonly detail: string }[];
};

/** Parses the body of an error response; `undefined` if the body is not problem details. */
export function parseProblem(text: string): JsonObject | undefined {
  try {
    const problem: unknown = JSON.parse(text);
    return isJsonObject(problem) && typeof problem['code'] === 'string' && typeof problem['title'] === 'string' ? problem : undefined;
  } catch {
    return undefined;
  }
}

function readProblem({ code, title, detail = title, errors }: JsonObject): ApiProblem {
  const entries = Array.isArray(errors) ? errors.filter(isJsonObject) : [];
  return {
    code: jsonPrimitiveToText(code),
    detail: jsonPrimitiveToText(detail),
    errors: entries.map(({ parameter, pointer, detail: reason }) => ({
      argument:
        jsonPrimitiveToText(parameter ?? pointer)
          .replace(/^#\//, '')
          .replaceAll('/', '.') || undefined,
      detail: jsonPrimitiveToText(reason),
    })),
  };
}

const defaultAdvice: AccessAdvice = { missingScope: (scopes) => `ask the user to sign in again with the scope ${scopes.join(' or ')}` };

/**
 * Describes an error response in one sentence: the reason, and what the assistant can do. A whole problem object would use about ten times
 * as many tokens.
 */
export function describeApiError(tool: McpTool, response: ToolResponse, accessAdvice = defaultAdvice): string {
  const { status, text } = response;
  const body = parseProblem(text);
  const problem = body && readProblem(body);
  const advice = adviceFor(tool, problem?.code ?? '', response, accessAdvice);
  const reasons = problem ? listReasons(problem).map(nameToolsForApprovals) : [`The service responded with status ${status}`];
  const code = problem ? ` (${problem.code})` : '';
  return `${joinSentences([...reasons, ...(advice === undefined ? [] : [advice])])}${code}.`;
}

/** Codes of problems whose `errors` are more specific than their `detail`. */
const codesWithSpecificEntries: ReadonlySet<string> = new Set(['invalid_request', 'out_of_stock']);
const maxReasons = 5;

function listReasons({ code, detail, errors }: ApiProblem): string[] {
  if (!codesWithSpecificEntries.has(code) || errors.length === 0) return [detail];
  const nameArgument = code === 'invalid_request';
  const reasons = errors.map(({ argument, detail: reason }) =>
    nameArgument && argument !== undefined ? `\`${argument}\`: ${reason}` : reason,
  );
  return [...new Set(reasons)].slice(0, maxReasons);
}

/** Advice for errors whose `detail` does not explain what to do, by problem code. */
const adviceByCode: Readonly<Record<string, string>> = {
  invalid_request: 'correct the arguments and call the tool again',
  not_found: 'check the ID, or search for it with a list tool',
  out_of_stock: 'order no more than the available units, or choose another product',
  product_unavailable: 'choose another product',
  invalid_transition: 'read the resource again to see its current state',
  forbidden: 'tell the user, because the same call cannot succeed',
};

/**
 * API requests that the `detail` of a limit problem suggests, each with the tools that send the request. The texts also name the tool sets,
 * because an assistant's settings might not select these sets.
 */
const toolsByApprovalRequest: readonly (readonly [request: RegExp, tools: string])[] = [
  [/a quote with POST \/api\/v1\/approvals/, 'a quote with `quotes_create` and `approvals_create` (tool sets `quotes`, `approvals`)'],
  [/POST \/api\/v1\/approvals/, '`approvals_create` (tool set `approvals`)'],
  [/GET \/api\/v1\/approvals\/\d+\?wait=\d+/, '`approvals_get`'],
];

const nameToolsForApprovals = (reason: string): string =>
  toolsByApprovalRequest.reduce((text, [request, tools]) => text.replace(request, tools), reason);

function adviceFor(
  { keyed, scopes }: McpTool,
  code: string,
  { status, header }: ToolResponse,
  { missingScope, missingToken }: AccessAdvice,
): string | undefined {
  if (code === 'insufficient_scope') return missingScope(scopes);
  if (status === 401) return missingToken;
  if (status !== 429 && status < 500) return adviceByCode[code];
  const retryAfter = header('retry-after');
  const delay = retryAfter === undefined ? 'later' : `in ${retryAfter} seconds`;
  return `call the tool again ${delay}${keyed ? ' with the same `idempotency_key`' : ''}`;
}

/** Joins texts of one or more sentences into a single sentence without a final period. */
const joinSentences = (texts: readonly string[]): string =>
  texts
    .flatMap((text) => text.split(/(?<=[.!?])\s+(?=[\p{Lu}\d`])/u))
    .map((sentence, index) => (index === 0 ? sentence : lowerCaseFirstWord(sentence)).replace(/[.!]$/, ''))
    .join('; ');

/** Converts the first letter to lower case, except in abbreviations such as `ETag` and `ID`. */
const lowerCaseFirstWord = (sentence: string): string => sentence.replace(/^\p{Lu}(?=\p{Ll}|\s)/u, (letter) => letter.toLowerCase());
