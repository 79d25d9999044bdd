import { isJsonObject } from '../schema/json.ts';
import { scopeDefinitions } from '../protocol/scopes.ts';
import type { McpTool } from './mcp-tool-type.ts';

/** Tools in these sets are offered if the assistant's settings select no tool sets. */
const defaultToolSets: ReadonlySet<string> = new Set([
  'products',
  'product_categories',
  'delivery_methods',
  'orders',
  'payments',
  'shipments',
  'authorization',
]);

/** Tools that an assistant uses to request approval for an order above a limit. */
const approvalTools: ReadonlySet<string> = new Set(['quotes_create', 'approvals_create', 'approvals_get']);

/**
 * Default tools that are omitted if the approval tools are added, because the definitions of the default tools must not exceed 5,000
 * tokens. The remaining tools are sufficient: the lists of delivery methods and shipments contain the same data as a single delivery method
 * or shipment, `payments_get` returns the result of a payment, and `orders_cancel` also cancels an incomplete payment.
 */
const toolsReplacedByApprovalTools: ReadonlySet<string> = new Set([
  'delivery_methods_get',
  'orders_update',
  'payments_cancel',
  'payments_list',
  'shipments_get',
]);

/** Arguments of `quotes_create` that only staff can use, or that an order above a limit does not need. */
const omittedQuoteArguments: ReadonlySet<string> = new Set(['user_id', 'discount_total', 'total', 'reference', 'metadata', 'expires_in']);

export type McpToolSelection = {
  /** Names of tool sets, such as `orders`, or `all`. If undefined, the tools for shopping are selected. */
  readonly toolSets: readonly string[] | undefined;
  readonly readOnly: boolean;
  /** Whether the assistant's orders can require approval. If so, the default tools include the tools that request an approval. */
  readonly canRequestApprovals: boolean;
};

/** Thrown if a tool set does not exist. */
export class UnknownMcpToolSetError extends Error {
  override readonly name = 'UnknownMcpToolSetError';
  /** Names of the existing tool sets, and `all`. */
  readonly allowed: readonly string[];
  readonly toolSet: string;

  constructor(toolSet: string, allowed: readonly string[]) {
    super(`The tool set "${toolSet}" does not exist. Use ${allowed.join(', ')}.`);
    this.allowed = allowed;
    this.toolSet = toolSet;
  }
}

const isAdministrative = (scope: string): boolean => Object.entries(scopeDefinitions).some(([name, { admin }]) => name === scope && admin);

/** Returns whether customers can call the tool. */
const isForCustomers = ({ scopes }: McpTool): boolean => scopes.length === 0 || scopes.some((scope) => !isAdministrative(scope));

/**
 * Returns whether the tool is selected by default. Excludes tools that list payments or other resources across all orders, because the
 * tools for a single order return the same data.
 */
const isForShopping = (tool: McpTool): boolean =>
  defaultToolSets.has(tool.toolSet) && isForCustomers(tool) && !tool.name.endsWith('_list_all');

/**
 * Returns the tools that an assistant's settings select.
 * @throws {UnknownMcpToolSetError} if a tool set does not exist
 */
export function selectMcpTools(tools: readonly McpTool[], { toolSets, readOnly, canRequestApprovals }: McpToolSelection): McpTool[] {
  const existing = [...new Set(tools.map(({ toolSet }) => toolSet))];
  const unknown = toolSets?.find((name) => name !== 'all' && !existing.includes(name));
  if (unknown !== undefined) throw new UnknownMcpToolSetError(unknown, ['all', ...existing]);
  const isSelected = (tool: McpTool): boolean =>
    toolSets === undefined
      ? (isForShopping(tool) && !(canRequestApprovals && toolsReplacedByApprovalTools.has(tool.name))) ||
        (canRequestApprovals && approvalTools.has(tool.name))
      : toolSets.includes('all') || toolSets.includes(tool.toolSet);
  return tools
    .filter((tool) => isSelected(tool) && (tool.readOnly || !readOnly))
    .map((tool) => (toolSets === undefined && tool.name === 'quotes_create' ? omitArguments(tool, omittedQuoteArguments) : tool));
}

function omitArguments(tool: McpTool, names: ReadonlySet<string>): McpTool {
  const { properties } = tool.inputSchema;
  if (!isJsonObject(properties)) return tool;
  const kept = Object.fromEntries(Object.entries(properties).filter(([name]) => !names.has(name)));
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: kept } };
}
