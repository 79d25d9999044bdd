import type { McpTool } from '@mandate/contract/tools';
import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { InProcessResponse } from './send-in-process-request.ts';

export type SendToolRequest = (tool: McpTool, toolArguments: Readonly<Record<string, unknown>>) => Promise<InProcessResponse>;

export type UsableTools = {
  /** Tools that the caller's token can use. */
  readonly usable: readonly McpTool[];
  /** Sends the API request of a tool on behalf of the caller. */
  readonly send: SendToolRequest;
  /** The caller's user; `null` if the application acts on its own behalf. */
  readonly userId: number | null;
};

type ResourceType = {
  readonly name: 'order' | 'product';
  readonly title: string;
  readonly description: string;
  /** The tool that reads one resource, and its argument. */
  readonly getTool: string;
  readonly idArgument: string;
  /** The tool that lists the resources that are offered without a search; undefined if there can be too many. */
  readonly listTool?: string;
};

const resourceTypes: readonly ResourceType[] = [
  {
    name: 'order',
    title: 'Order',
    description: 'An order with its items, delivery and status.',
    getTool: 'orders_get',
    idArgument: 'order_id',
    listTool: 'orders_list',
  },
  {
    name: 'product',
    title: 'Product',
    description: 'A product with its price and stock.',
    getTool: 'products_get',
    idArgument: 'product_id',
  },
];

/** Maximum number of resources in a list. */
const maxListedResources = 20;

/** Returns the URI of a resource, such as `mandate://orders/5`. */
export const formatResourceUri = (name: ResourceType['name'], id: number | string): string => `mandate://${name}s/${id}`;

/** Registers each type of resource whose tool the caller can use. Reading a resource sends the same API request as the tool. */
export function registerMcpResources(server: McpServer, tools: UsableTools): void {
  for (const { name, title, description, getTool, idArgument, listTool } of resourceTypes) {
    const get = findTool(tools, getTool);
    const list = listTool === undefined ? undefined : findTool(tools, listTool);
    if (!get) continue;
    const template = new ResourceTemplate(`mandate://${name}s/{${idArgument}}`, { list: list && (() => listNewest(tools, list, name)) });
    server.registerResource(name, template, { title, description, mimeType }, async (uri, variables) => {
      const text = await readResourceText(tools, get, { [idArgument]: variables[idArgument] }, uri.href);
      return { contents: [{ uri: uri.href, mimeType, text }] };
    });
  }
}

const mimeType = 'application/json';

export const findTool = ({ usable }: UsableTools, name: string): McpTool | undefined => usable.find((tool) => tool.name === name);

const listedRows = z.object({ data: z.array(z.object({ id: z.number(), status: z.string() }).passthrough()) });

async function listNewest(tools: UsableTools, list: McpTool, name: ResourceType['name']) {
  const response = await tools.send(list, { limit: maxListedResources });
  const { data } = listedRows.parse(parseSuccessfulResponse(response));
  return { resources: data.map(({ id, status }) => ({ uri: formatResourceUri(name, id), name: `${name} ${id}`, description: status })) };
}

/** Returns the JSON text of a resource. @throws {ResourceNotFoundError} if it does not exist, or the caller may not access it */
export async function readResourceText(
  { send }: UsableTools,
  get: McpTool,
  toolArguments: Readonly<Record<string, unknown>>,
  uri: string,
): Promise<string> {
  const response = await send(get, toolArguments);
  if (response.status === 404 || response.status === 400) throw new ResourceNotFoundError(uri);
  parseSuccessfulResponse(response);
  return response.text;
}

/** Parses a response. @throws {ProtocolError} with the response text if the API rejected the request */
export function parseSuccessfulResponse({ status, text }: InProcessResponse): unknown {
  if (status >= 400) throw new ProtocolError(ProtocolErrorCode.InternalError, text);
  return JSON.parse(text);
}
