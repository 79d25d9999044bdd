import type { Request } from 'express';
import { selectMcpTools, UnknownMcpToolSetError, type McpTool } from '@mandate/contract/tools';
import { createInvalidRequestProblem } from '../http/problem-details/problem.ts';
import { translatable, type ProblemDetail } from '../http/problem-details/translatable-text.ts';

/** Path of the MCP endpoint that offers only read-only tools. */
export const readOnlyMcpPath = '/mcp/readonly';

/**
 * Returns the tools that an MCP server URL selects. `?tools=orders,products` selects tool sets, and `?tools=all` selects all tools.
 * `/mcp/readonly` or `?readonly=true` selects only read-only tools.
 * @throws {Problem} `invalid_request` if a tool set does not exist or a value is invalid
 */
export function parseMcpToolSelection(
  req: Pick<Request, 'path' | 'query'>,
  tools: readonly McpTool[],
  { canRequestApprovals }: { readonly canRequestApprovals: boolean },
): McpTool[] {
  const { tools: names, readonly = 'false' } = req.query;
  if (names !== undefined && typeof names !== 'string') throw createQueryProblem('tools', 'Send this parameter only once.');
  if (readonly !== 'true' && readonly !== 'false')
    throw createQueryProblem('readonly', translatable`Must be one of: ${{ options: 'true, false' }}.`, ['true', 'false']);
  try {
    const readOnly = readonly === 'true' || req.path === readOnlyMcpPath;
    return selectMcpTools(tools, { toolSets: names?.split(','), readOnly, canRequestApprovals });
  } catch (error) {
    if (!(error instanceof UnknownMcpToolSetError)) throw error;
    const { toolSet: name, allowed } = error;
    const detail = translatable`The tool set "${{ name }}" does not exist. Use ${{ allowed: allowed.join(', ') }}.`;
    throw createQueryProblem('tools', detail, [...allowed]);
  }
}

const createQueryProblem = (parameter: string, detail: ProblemDetail, allowed?: string[]) =>
  createInvalidRequestProblem({ in: 'query', parameter, code: 'invalid_value', detail, ...(allowed && { allowed }) });
