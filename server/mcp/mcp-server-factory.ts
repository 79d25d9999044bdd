import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import {
  createMcpTools,
  formatToolsWithScopes,
  mcpInstructions,
  toolResultFromResponse,
  type McpTool,
  type UsableTools,
} from '@mandate/contract/tools';
import type { JsonObject } from '@mandate/contract/json';
import { readApiV1OpenApiDocument } from '../docs/serve-openapi-documents.ts';
import { createLazyGetter } from '../memory/lazy-value.ts';
import { registerMcpPrompts, registerMcpResources } from './register-mcp-resources-and-prompts.ts';
import { toolResultFromStartedTask, mcpTasksExtensionName, registerMcpTaskMethods, type TaskTools } from './register-mcp-task-methods.ts';

/**
 * The tools that the MCP server URL selects and the caller's token permits. Only usable tools are listed, because every listed tool takes
 * up part of an assistant's context.
 */
export type OfferedTools = UsableTools & {
  /**
   * Tools that require a scope that the token lacks. If the client calls such a tool, the response prompts the client to request the scope.
   */
  readonly lackingScope: readonly McpTool[];
  /** Whether the caller can subscribe to changes to orders and products, which requires access to the event feed. */
  readonly canSubscribe: boolean;
  /** Tools that let the caller track the tasks that it starts; undefined if the caller cannot start or read tasks. */
  readonly tasks: TaskTools | undefined;
};

/** Returns a function that lists all tools. The list is prepared on first use. */
export const createAllMcpToolsGetter = (issuer: string): (() => readonly McpTool[]) =>
  createLazyGetter(() => createMcpTools(readApiV1OpenApiDocument(issuer)));

/**
 * Returns a function that creates an MCP server for one request. `era` is `legacy` for the 2025 versions of the protocol, otherwise
 * `modern`. Schemas are compiled on first use and shared.
 */
export function createMcpServerFactory(): (offered: OfferedTools, era: 'legacy' | 'modern') => McpServer {
  const schemas = new Map<JsonObject, CompiledSchema>();
  const schemaOf = (schema: JsonObject): CompiledSchema => {
    const found = schemas.get(schema) ?? lazySchema(schema);
    schemas.set(schema, found);
    return found;
  };
  return (offered, era) => {
    const { usable, lackingScope, send } = offered;
    // The 2025 versions of the protocol do not support extensions.
    const tasks = era === 'modern' ? offered.tasks : undefined;
    const server = new McpServer(
      { name: 'mandate', title: 'Mandate', version: '1.0.0' },
      {
        instructions: [mcpInstructions, ...describeToolsLackingScope(lackingScope)].join('\n'),
        // The lists do not change while the server runs. The 2025 versions of the protocol require a session for subscriptions.
        capabilities: {
          tools: { listChanged: false },
          prompts: { listChanged: false },
          resources: { listChanged: false, subscribe: offered.canSubscribe && era === 'modern' },
          ...(tasks && { extensions: { [mcpTasksExtensionName]: {} } }),
        },
      },
    );
    registerMcpResources(server, offered);
    registerMcpPrompts(server, offered);
    if (tasks) registerMcpTaskMethods(server, tasks);
    for (const tool of usable) {
      const { title, description, readOnly, destructive, idempotent } = tool;
      const annotations = { readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: false };
      const outputSchema = tool.outputSchema && schemaOf(tool.outputSchema);
      const config = { title, description, inputSchema: schemaOf(tool.inputSchema), ...(outputSchema && { outputSchema }), annotations };
      server.registerTool(tool.name, config, async (toolArguments, context) => {
        const response = await send(tool, toolArguments);
        const createdTask = tasks && tool.startsTask ? toolResultFromStartedTask(response, context) : undefined;
        return createdTask ?? toolResultFromResponse(tool, response);
      });
    }
    return server;
  };
}

function describeToolsLackingScope(tools: readonly McpTool[]): string[] {
  if (tools.length === 0) return [];
  return [
    `These tools are not listed, because the user has not granted the required scopes: ${formatToolsWithScopes(tools)}. If you call one, the user is asked to grant its scope.`,
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
