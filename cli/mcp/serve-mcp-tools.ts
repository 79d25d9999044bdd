import { Readable, Writable } from 'node:stream';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Client } from '@mandate/client-sdk';
import packageJson from '../package.json' with { type: 'json' };
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { tools } from './tools.gen.ts';
import { callMcpTool } from './call-mcp-tool.ts';

/** Serves the API operations as MCP tools over standard input and output, until the input ends. */
export async function serveMcpTools(io: CliEnvironment, client: Client, allowsWrites: boolean): Promise<void> {
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
  const handle = serveStdio(() => createToolServer(io, client, allowsWrites), {
    transport: new StdioServerTransport(input, output),
    onerror: (error) => io.stderr.write(`${error.message}\n`),
  });
  await promise;
  await handle.close();
}

function createToolServer(io: CliEnvironment, client: Client, allowsWrites: boolean): McpServer {
  const server = new McpServer(
    { name: 'mandate', title: 'Mandate', version: packageJson.version },
    { instructions: [...instructions, ...(allowsWrites ? [] : [readOnlyNotice])].join('\n') },
  );
  for (const tool of tools) {
    const { name, title, description, readOnly, destructive, idempotent } = tool;
    const annotations = { readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: false };
    const inputSchema = fromJsonSchema<Record<string, unknown>>(tool.inputSchema);
    const registered = server.registerTool(name, { title, description, inputSchema, annotations }, async (args) =>
      callMcpTool(io, client, tool, args),
    );
    if (!readOnly && !allowsWrites) registered.disable();
  }
  return server;
}

const instructions = [
  'Mandate is a shop with products, orders, payments, shipments and refunds.',
  'Every tool acts on behalf of the user who signed in at this terminal, within the scopes that the user granted.',
  'Amounts are whole numbers in the minor unit of their currency: 1250 in EUR means 12.50 EUR. Timestamps are in UTC.',
  'Lists are paginated: pass next_cursor as cursor to get the next page. Ask the user for confirmation before placing an order or moving money.',
];
const readOnlyNotice = 'This server is read-only. To allow changes, the user must start it with: mandate mcp --allow-writes';
