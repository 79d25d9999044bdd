import { listUsablePrompts, listUsableMcpResourceTypes, type UsableTools } from '@mandate/contract/tools';
import { fromJsonSchema, type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';

/** Registers the resources that the caller can use. */
export function registerMcpResources(server: McpServer, tools: UsableTools): void {
  for (const { name, uriTemplate, list, read, ...config } of listUsableMcpResourceTypes(tools)) {
    server.registerResource(name, new ResourceTemplate(uriTemplate, { list }), config, async (uri, variables) => {
      const found = await read(uri.href, variables);
      if (!found) throw new ResourceNotFoundError(uri.href);
      return found;
    });
  }
}

/** Registers the prompts that the caller can use. */
export function registerMcpPrompts(server: McpServer, tools: UsableTools): void {
  for (const { name, title, description, argumentsSchema, write } of listUsablePrompts(tools)) {
    const argsSchema = argumentsSchema && fromJsonSchema<Record<string, string>>(argumentsSchema);
    if (argsSchema)
      server.registerPrompt(name, { title, description, argsSchema }, async (given) => ({ messages: await write(tools, given) }));
    else server.registerPrompt(name, { title, description }, async () => ({ messages: await write(tools, {}) }));
  }
}
