import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { createMcpTools, type McpTool } from '@mandate/contract/tools';
import type { JsonObject } from '@mandate/contract/json';
import { readApiV1OpenApiDocument } from '../docs/serve-openapi-documents.ts';
import { createLazyGetter } from '../memory/lazy-value.ts';
import type { ToolResult } from './convert-tool-call-and-result.ts';

export type CallTool = (tool: McpTool, toolArguments: Readonly<Record<string, unknown>>) => Promise<ToolResult>;

/** Returns a function that creates an MCP server for one request. The tool list is prepared on first use and shared. */
export function createMcpServerFactory(issuer: string): (call: CallTool) => McpServer {
  const tools = createLazyGetter(() =>
    createMcpTools(readApiV1OpenApiDocument(issuer)).map((tool) => ({ tool, inputSchema: lazyInputSchema(tool.inputSchema) })),
  );
  return (call) => {
    const server = new McpServer({ name: 'mandate', title: 'Mandate', version: '1.0.0' }, { instructions });
    for (const { tool, inputSchema } of tools()) {
      const { title, description, readOnly, destructive, idempotent } = tool;
      const annotations = { readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: false };
      server.registerTool(tool.name, { title, description, inputSchema, annotations }, async (toolArguments) => call(tool, toolArguments));
    }
    return server;
  };
}

type InputSchema = ReturnType<typeof fromJsonSchema<Record<string, unknown>>>;

/** Compiles a schema on the first call to its tool, because compiling all schemas takes longer than the rest of the start-up. */
function lazyInputSchema(schema: JsonObject): InputSchema {
  const compiled = createLazyGetter(() => fromJsonSchema<Record<string, unknown>>(schema));
  return {
    '~standard': {
      version: 1,
      vendor: 'mandate',
      jsonSchema: { input: () => schema, output: () => schema },
      validate: (value) => compiled()['~standard'].validate(value),
    },
  };
}

const instructions = [
  'Mandate is a shop with products, orders, payments, shipments and refunds.',
  'Every tool acts for the signed-in user, within the scopes that they granted.',
  'Amounts are whole numbers in the minor unit of their currency: 1250 in EUR means 12.50 EUR. Times are UTC.',
  'Lists are paginated: pass next_cursor as cursor to get the next page. Ask the user for confirmation before placing an order or moving money.',
].join('\n');
