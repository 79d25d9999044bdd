import { Readable, Writable } from 'node:stream';
import { fromJsonSchema, McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Client } from '@mandate/client-sdk';
import {
  formatToolsWithScopes,
  listUsablePrompts,
  listUsableMcpResourceTypes,
  mcpInstructions,
  selectMcpTools,
  toolRequestFromCall,
  UnknownMcpToolSetError,
  type McpTool,
  type McpToolSelection,
  type UsableTools,
} from '@mandate/contract/tools';
import packageJson from '../package.json' with { type: 'json' };
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { addProfileToLoginHint } from '../settings/resolve-settings.ts';
import { mcpTools } from './tools.gen.ts';
import { callMcpTool, sendToolRequest } from './call-mcp-tool.ts';

/** The signed-in user and their permissions. */
export type McpCaller = {
  readonly client: Client;
  readonly userId: number | undefined;
  /** The granted scopes; undefined if they are unknown. */
  readonly scopes: readonly string[] | undefined;
};

/** Serves tools, resources and prompts to an assistant over standard input and output, until the input ends. */
export async function serveMcpOverStdio(io: CliEnvironment, caller: McpCaller, selection: McpToolSelection): Promise<void> {
  const selected = selectTools(selection);
  const input = Readable.from(io.stdin);
  const output = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      io.stdout.write(chunk);
      done();
    },
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  input.once('close', resolve);
  io.interrupted.addEventListener('abort', () => resolve());
  const handle = serveStdio(() => createToolServer(io, caller, selected, selection.readOnly), {
    transport: new StdioServerTransport(input, output),
    onerror: (error) => io.stderr.write(`${error.message}\n`),
  });
  await promise;
  await handle.close();
}

function selectTools(selection: McpToolSelection): McpTool[] {
  try {
    return selectMcpTools(mcpTools, selection);
  } catch (error) {
    throw error instanceof UnknownMcpToolSetError ? new CommandError(exitCodes.usage, 'usage', error.message) : error;
  }
}

function createToolServer(io: CliEnvironment, caller: McpCaller, selected: readonly McpTool[], isReadOnly: boolean): McpServer {
  const { client, userId = null, scopes } = caller;
  const isUsable = (tool: McpTool): boolean =>
    tool.scopes.length === 0 || scopes === undefined || tool.scopes.some((scope) => scopes.includes(scope));
  const usable = selected.filter(isUsable);
  const lackingScope = selected.filter((tool) => !isUsable(tool));
  const notices = [...(isReadOnly ? [readOnlyNotice] : []), ...describeToolsLackingScope(io, lackingScope)];
  const server = new McpServer(
    { name: 'mandate', title: 'Mandate', version: packageJson.version },
    // The lists do not change while the server runs.
    { instructions: [mcpInstructions, ...notices].join('\n'), capabilities: { tools: { listChanged: false } } },
  );
  // A tool can be called even if its scope is missing, because the user can sign in again and grant the scope while this server is running.
  for (const tool of selected) {
    const config = { ...describeTool(tool), inputSchema: fromJsonSchema<Record<string, unknown>>(tool.inputSchema) };
    const outputSchema = tool.outputSchema && fromJsonSchema<Record<string, unknown>>(tool.outputSchema);
    server.registerTool(tool.name, { ...config, ...(outputSchema && { outputSchema }) }, async (toolArguments) =>
      callMcpTool(io, client, tool, toolArguments),
    );
  }
  server.server.setRequestHandler('tools/list', () => ({ tools: usable.map(listedTool) }));
  const usableTools: UsableTools = {
    usable,
    userId,
    send: (tool, toolArguments) => sendToolRequest(io, client, toolRequestFromCall(tool, toolArguments)),
  };
  registerResources(server, usableTools);
  registerPrompts(server, usableTools);
  return server;
}

const describeTool = ({ title, description, readOnly, destructive, idempotent }: McpTool) => ({
  title,
  description,
  annotations: { readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: false },
});

const listedTool = (tool: McpTool) => ({
  name: tool.name,
  ...describeTool(tool),
  inputSchema: { ...tool.inputSchema, type: 'object' as const },
  ...(tool.outputSchema && { outputSchema: tool.outputSchema }),
});

const readOnlyNotice = 'This server is read-only. To allow changes, the user must start it with: mandate mcp --allow-writes';

function describeToolsLackingScope(io: CliEnvironment, lackingScope: readonly McpTool[]): string[] {
  if (lackingScope.length === 0) return [];
  const advice = addProfileToLoginHint(io, 'ask the user to run `mandate login --scopes +SCOPE` and to restart this server');
  return [
    `These tools are not listed, because the user has not granted the required scopes: ${formatToolsWithScopes(lackingScope)}. To make them available, ${advice}.`,
  ];
}

function registerResources(server: McpServer, usableTools: UsableTools): void {
  for (const { name, uriTemplate, list, read, ...config } of listUsableMcpResourceTypes(usableTools)) {
    server.registerResource(name, new ResourceTemplate(uriTemplate, { list }), config, async (uri, variables) => {
      const found = await read(uri.href, variables);
      if (!found) throw new ResourceNotFoundError(uri.href);
      return found;
    });
  }
}

function registerPrompts(server: McpServer, usableTools: UsableTools): void {
  for (const { name, argumentsSchema, write, title, description } of listUsablePrompts(usableTools)) {
    const argsSchema = argumentsSchema && fromJsonSchema<Record<string, string>>(argumentsSchema);
    if (argsSchema)
      server.registerPrompt(name, { title, description, argsSchema }, async (given) => ({ messages: await write(usableTools, given) }));
    else server.registerPrompt(name, { title, description }, async () => ({ messages: await write(usableTools, {}) }));
  }
}
