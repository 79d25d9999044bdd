import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createOpenApiDocument } from '@mandate/contract/openapi';
import { createMcpTools, selectMcpTools } from '@mandate/contract/tools';
import { z } from 'zod';
import { createEmptyProject, installPackages } from '../package/pack-and-install.ts';
import type { ComparedToolServer } from './compared-clients.ts';

export type ToolsMeasurement = { readonly name: string; readonly tools: number; readonly tokens: number };

const tokenizer = 'gpt-tokenizer@4.0.0';
const tokenizerModule = z.object({ countTokens: z.function(z.tuple([z.string()]), z.number()) });

/** Installs the tokenizer, and returns a function that counts the tokens in a string with the encoding o200k_base. */
export async function createTokenCounter(folder: string): Promise<(text: string) => number> {
  await createEmptyProject(folder, [tokenizer]);
  const module: unknown = await import(join(folder, 'node_modules/gpt-tokenizer/esm/encoding/o200k_base.js'));
  const { countTokens } = tokenizerModule.parse(module);
  return (text) => countTokens(text);
}

/** Measures the tool definitions that `/mcp` lists. */
export function measureMandateTools(countTokens: (text: string) => number): ToolsMeasurement[] {
  const all = createMcpTools(createOpenApiDocument('https://shop.example'));
  const measure = (name: string, toolSets: readonly string[] | undefined): ToolsMeasurement => {
    const listed = selectMcpTools(all, { toolSets, readOnly: false, canRequestApprovals: false }).map(
      ({ name: toolName, title, description, inputSchema, outputSchema, readOnly, destructive, idempotent }) => ({
        name: toolName,
        title,
        description,
        inputSchema,
        outputSchema,
        annotations: { readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: false },
      }),
    );
    return { name, tools: listed.length, tokens: countTokens(JSON.stringify(listed)) };
  };
  return [measure('Mandate, `/mcp`', undefined), measure('Mandate, `/mcp?tools=all`', ['all'])];
}

/** Starts a tool server as a child process, and lists its tools. */
export async function measureToolServer(
  { name, install, command: [program, ...argv], env = {} }: ComparedToolServer,
  folder: string,
  countTokens: (text: string) => number,
): Promise<ToolsMeasurement> {
  await createEmptyProject(folder, []);
  await installPackages(folder, [install]);
  const client = new Client({ name: 'comparison', version: '1.0.0' });
  const args = [join(folder, 'node_modules', program), ...argv];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: { ...env }, cwd: folder, stderr: 'ignore' }));
  const { tools } = await client.listTools();
  await client.close();
  return { name, tools: tools.length, tokens: countTokens(JSON.stringify(tools)) };
}
