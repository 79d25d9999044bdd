import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { createMcpTools, type McpTool } from '@mandate/contract/tools';
import type { JsonObject } from '@mandate/contract/json';
import { readApiV1OpenApiDocument } from '../docs/serve-openapi-documents.ts';
import { createLazyGetter } from '../memory/lazy-value.ts';
import { toolResultFromApiResponse } from './convert-tool-call-and-result.ts';
import { registerMcpPrompts } from './register-mcp-prompts.ts';
import { registerMcpResources, type UsableTools } from './register-mcp-resources.ts';

/**
 * The tools that the URL of the MCP server selects, as far as the caller's token permits. Only usable tools are listed, because every
 * listed tool takes up part of an assistant's context.
 */
export type OfferedTools = UsableTools & {
  /** Tools that require a scope that the token lacks. A call to one of them makes the client request the scope. */
  readonly lackingScope: readonly McpTool[];
  /** Whether the caller can subscribe to changes of orders and products, which requires access to the event feed. */
  readonly canSubscribe: boolean;
};

/** Returns a function that lists all tools. The list is prepared on first use. */
export const createMcpToolListGetter = (issuer: string): (() => readonly McpTool[]) =>
  createLazyGetter(() => createMcpTools(readApiV1OpenApiDocument(issuer)));

/** Returns a function that creates an MCP server for one request, in the era of the client's protocol version. Schemas are compiled on first use and shared. */
export function createMcpServerFactory(): (offered: OfferedTools, era: 'legacy' | 'modern') => McpServer {
  const schemas = new Map<JsonObject, CompiledSchema>();
  const schemaOf = (schema: JsonObject): CompiledSchema => {
    const found = schemas.get(schema) ?? lazySchema(schema);
    schemas.set(schema, found);
    return found;
  };
  return (offered, era) => {
    const { usable, lackingScope, send } = offered;
    const server = new McpServer(
      { name: 'mandate', title: 'Mandate', version: '1.0.0' },
      {
        instructions: [...instructions, ...describeToolsLackingScope(lackingScope)].join('\n'),
        // The lists do not change while the server runs. The 2025 versions of the protocol require a session for subscriptions.
        capabilities: {
          tools: { listChanged: false },
          prompts: { listChanged: false },
          resources: { listChanged: false, subscribe: offered.canSubscribe && era === 'modern' },
        },
      },
    );
    registerMcpResources(server, offered);
    registerMcpPrompts(server, offered);
    for (const tool of usable) {
      const { title, description, readOnly, destructive, idempotent } = tool;
      const annotations = { readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: false };
      const outputSchema = tool.outputSchema && schemaOf(tool.outputSchema);
      const config = { title, description, inputSchema: schemaOf(tool.inputSchema), ...(outputSchema && { outputSchema }), annotations };
      server.registerTool(tool.name, config, async (toolArguments) => toolResultFromApiResponse(tool, await send(tool, toolArguments)));
    }
    return server;
  };
}

function describeToolsLackingScope(tools: readonly McpTool[]): string[] {
  if (tools.length === 0) return [];
  const names = tools.map(({ name, scopes }) => `${name} (${scopes[0]})`).join(', ');
  return [
    `These tools are not listed, because the user has not granted their scopes. If you call one, the user is asked for it: ${names}.`,
  ];
}

type CompiledSchema = ReturnType<typeof fromJsonSchema<Record<string, unknown>>>;

/** Compiles a schema on the first call to its tool, because compiling all schemas takes longer than the rest of the start-up. */
function lazySchema(schema: JsonObject): CompiledSchema {
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
];
