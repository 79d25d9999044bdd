import { scopeNames } from '@mandate/contract';
import type { McpTool, SendToolRequest } from '@mandate/contract/tools';
import type { Request } from 'express';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { OfferedTools } from './mcp-server-factory.ts';
import { parseMcpToolSelection } from './parse-mcp-tool-selection.ts';
import { findTaskTools } from './register-mcp-task-methods.ts';

/** Returns the tools that the MCP server URL selects and the caller's token permits. */
export function selectOfferedTools(req: Request, tools: readonly McpTool[], send: SendToolRequest): OfferedTools {
  const principal = requirePrincipal(req);
  const canRequestApprovals = principal.orderAuthorization?.canRequestApprovals === true;
  const selected = parseMcpToolSelection(req, tools, { canRequestApprovals });
  const isUsable = ({ scopes }: McpTool): boolean =>
    scopes.length === 0 || scopeNames.some((scope) => scopes.includes(scope) && canUseScope(principal, scope));
  const granted: ReadonlySet<string> = principal.scopes;
  const lacksScope = ({ scopes }: McpTool): boolean => scopes.length > 0 && !scopes.some((scope) => granted.has(scope));
  const usable = selected.filter(isUsable);
  return {
    usable,
    lackingScope: selected.filter(lacksScope),
    userId: principal.user?.id ?? null,
    // API keys cannot be used to subscribe, because only access tokens can be rechecked during a subscription.
    canSubscribe: canUseScope(principal, 'events.read') && principal.tokenRecordId !== undefined,
    tasks: usable.some(({ startsTask }) => startsTask) ? findTaskTools(tools.filter(isUsable), send) : undefined,
    send,
  };
}
