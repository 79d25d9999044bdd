import type { McpTool } from '@mandate/contract/tools';
import { z } from 'zod';
import type { InProcessResponse } from './send-in-process-request.ts';

const problemSchema = z
  .object({
    code: z.string(),
    title: z.string(),
    detail: z.string().optional(),
    errors: z
      .array(z.object({ pointer: z.string().optional(), parameter: z.string().optional(), detail: z.string() }).passthrough())
      .default([]),
  })
  .passthrough();

type ApiProblem = z.output<typeof problemSchema>;

/** Parses the body of an error response; `undefined` if the body is not problem details. */
export function parseProblem(text: string): ApiProblem | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * Describes an error response in one sentence that tells the assistant the reason and what to do, because a whole problem object would take
 * up about ten times as many tokens.
 */
export function describeRefusal(tool: McpTool, { status, header, text }: InProcessResponse): string {
  const problem = parseProblem(text);
  const retryAfter = header('retry-after');
  const advice = adviceFor(tool, problem?.code ?? '', status, retryAfter);
  const reasons = problem ? listReasons(problem).map(nameToolsForApprovals) : [`The service responded with status ${status}`];
  const code = problem ? ` (${problem.code})` : '';
  return `${joinSentences([...reasons, ...(advice === undefined ? [] : [advice])])}${code}.`;
}

/** Codes whose error entries say more than the detail of the problem. */
const codesWithSpecificEntries: ReadonlySet<string> = new Set(['invalid_request', 'out_of_stock']);
const maxReasons = 5;

function listReasons({ code, title, detail = title, errors }: ApiProblem): string[] {
  if (!codesWithSpecificEntries.has(code) || errors.length === 0) return [detail];
  const nameArgument = code === 'invalid_request';
  const reasons = errors.map(({ pointer, parameter, detail: reason }) => {
    const argument = parameter ?? pointer?.replace(/^#\//, '').replaceAll('/', '.');
    return nameArgument && argument !== undefined && argument !== '' ? `\`${argument}\`: ${reason}` : reason;
  });
  return [...new Set(reasons)].slice(0, maxReasons);
}

/** What to do about an error whose detail does not say so. */
const adviceByCode: Readonly<Record<string, string>> = {
  invalid_request: 'correct the arguments and call the tool again',
  not_found: 'check the ID, or search for it with a list tool',
  out_of_stock: 'order at most the available units, or choose another product',
  product_unavailable: 'choose another product',
  invalid_transition: 'read it again to see its current state',
  forbidden: 'tell the user, because the same call cannot succeed',
};

/** The requests that problems about limits suggest, and the tools for them. The tool sets are not among the default tools. */
const toolsByApprovalRequest: readonly (readonly [request: RegExp, tools: string])[] = [
  [/a quote with POST \/api\/v1\/approvals/, 'a quote with `quotes_create` and `approvals_create` (tool sets `quotes`, `approvals`)'],
  [/POST \/api\/v1\/approvals/, '`approvals_create` (tool set `approvals`)'],
  [/GET \/api\/v1\/approvals\/\d+\?wait=\d+/, '`approvals_get`'],
];

const nameToolsForApprovals = (reason: string): string =>
  toolsByApprovalRequest.reduce((text, [request, tools]) => text.replace(request, tools), reason);

function adviceFor({ keyed, scopes }: McpTool, code: string, status: number, retryAfter: string | undefined): string | undefined {
  if (code === 'insufficient_scope') return `ask the user to sign in again with the scope ${scopes.join(' or ')}`;
  if (status !== 429 && status < 500) return adviceByCode[code];
  const delay = retryAfter === undefined ? 'later' : `in ${retryAfter} seconds`;
  return `call the tool again ${delay}${keyed ? ' with the same `idempotency_key`' : ''}`;
}

/** Joins texts of one or more sentences into one sentence without its final period. */
const joinSentences = (texts: readonly string[]): string =>
  texts
    .flatMap((text) => text.split(/(?<=[.!?])\s+(?=[\p{Lu}\d`])/u))
    .map((sentence, index) => (index === 0 ? sentence : lowerCaseFirstWord(sentence)).replace(/[.!]$/, ''))
    .join('; ');

/** Does not change abbreviations such as `ETag` and `ID`. */
const lowerCaseFirstWord = (sentence: string): string => sentence.replace(/^\p{Lu}(?=\p{Ll}|\s)/u, (letter) => letter.toLowerCase());
