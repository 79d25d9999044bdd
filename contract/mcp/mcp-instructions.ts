import type { McpTool } from './mcp-tool-type.ts';

/** Text that tells an assistant what the MCP server offers and how to use it. */
export const mcpInstructions = [
  'Mandate is a shop with products, orders, payments, shipments and refunds.',
  'Every tool acts for the signed-in user, within the scopes that they granted.',
  'Amounts are whole numbers in the minor unit of their currency: 1250 in EUR means 12.50 EUR. Times are UTC.',
  'Lists are paginated: pass next_cursor as cursor to get the next page. Ask the user for confirmation before placing an order or moving money.',
].join('\n');

/** Lists tools with the scope that each requires, such as `orders_create (orders.write)`. */
export const formatToolsWithScopes = (tools: readonly McpTool[]): string =>
  tools.map(({ name, scopes }) => `${name} (${scopes[0]})`).join(', ');
