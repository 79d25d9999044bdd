import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { toolsOf, type Tool } from '@mandate/contract/tools';
import type { Json } from '@mandate/contract/json';
import { openApiDocumentOf } from '../docs/openapi-documents.ts';
import { lazily } from '../memory/lazy-value.ts';
import type { ToolResult } from './call-tool.ts';

export type CallTool = (tool: Tool, given: Readonly<Record<string, unknown>>) => Promise<ToolResult>;

/** Makes the servers of single requests. What all of them share is prepared once, when the first is asked for. */
export function toolServers(issuer: string): (call: CallTool) => McpServer {
  const tools = lazily(() =>
    toolsOf(openApiDocumentOf('openapi', issuer)).map((tool) => ({ tool, inputSchema: schemaOf(tool.inputSchema) })),
  );
  return (call) => {
    const server = new McpServer({ name: 'mandate', title: 'Mandate', version: '1.0.0' }, { instructions });
    for (const { tool, inputSchema } of tools()) {
      const { title, description, readOnly, destructive, idempotent } = tool;
      const annotations = { readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: false };
      server.registerTool(tool.name, { title, description, inputSchema, annotations }, async (given) => call(tool, given));
    }
    return server;
  };
}

type InputSchema = ReturnType<typeof fromJsonSchema<Record<string, unknown>>>;

/** Compiled when the tool is first called: to compile all of them takes longer than everything else at the start. */
function schemaOf(schema: Json): InputSchema {
  const compiled = lazily(() => fromJsonSchema<Record<string, unknown>>(schema));
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
  'Mandate is a shop: products, orders, payments, shipments and refunds.',
  'Every tool acts for the person who signed in, and reaches what they allowed and no more.',
  'Amounts are whole numbers in the minor unit of the currency beside them: 1250 with EUR is 12.50 EUR. Times are UTC.',
  'Lists come in pages: go on with next_cursor as cursor. Before an order is placed or money moved, ask the person.',
].join('\n');
