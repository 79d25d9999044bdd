import { isJsonObject, jsonPrimitiveToText, type JsonValue } from '../schema/json.ts';
import { describeApiError, type ToolResponse } from './describe-api-error.ts';
import type { McpTool } from './mcp-tool-type.ts';

export type SendToolRequest = (tool: McpTool, toolArguments: Readonly<Record<string, unknown>>) => Promise<ToolResponse>;

export type UsableTools = {
  /** Tools that the caller's token can use. */
  readonly usable: readonly McpTool[];
  /** Sends the API request of a tool on behalf of the caller. */
  readonly send: SendToolRequest;
  /** ID of the caller's user; `null` if the user is unknown or the application acts on its own behalf. */
  readonly userId: number | null;
};

/** A type of resource that the caller can use. */
export type McpResource = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  readonly uriTemplate: string;
  /** Lists the newest resources; undefined if there can be too many to list. */
  readonly list: (() => Promise<{ resources: { uri: string; name: string; description: string }[] }>) | undefined;
  /** Reads a resource; returns `undefined` if it does not exist, or the caller may not access it. */
  readonly read: (
    uri: string,
    variables: Readonly<Record<string, unknown>>,
  ) => Promise<{ contents: { uri: string; mimeType: string; text: string }[] } | undefined>;
};

type McpResourceType = {
  readonly name: 'order' | 'product';
  readonly title: string;
  readonly description: string;
  readonly uriTemplate: string;
  /** The tool that reads one resource, and the name of its ID argument, which is also the name of the variable in the URI template. */
  readonly getTool: string;
  readonly idArgument: string;
  /** The tool that lists the newest resources; undefined if there can be too many to list. */
  readonly listTool?: string;
};

const mcpResourceTypes: readonly McpResourceType[] = [
  {
    name: 'order',
    title: 'Order',
    description: 'An order with its items, delivery and status.',
    uriTemplate: 'mandate://orders/{order_id}',
    getTool: 'orders_get',
    idArgument: 'order_id',
    listTool: 'orders_list',
  },
  {
    name: 'product',
    title: 'Product',
    description: 'A product with its price and stock.',
    uriTemplate: 'mandate://products/{product_id}',
    getTool: 'products_get',
    idArgument: 'product_id',
  },
];

export const mcpResourceMimeType = 'application/json';

/** Maximum number of resources in a list. */
const maxListedResources = 20;

/** Returns the URI of a resource, such as `mandate://orders/5`. */
export const formatResourceUri = (name: McpResourceType['name'], id: number | string): string => `mandate://${name}s/${id}`;

/** Finds a tool that the caller can use, by its name. */
export const findUsableTool = ({ usable }: UsableTools, name: string): McpTool | undefined => usable.find((tool) => tool.name === name);

/** Returns the types of resources whose tools the caller can use. Reading a resource sends the same API request as the tool. */
export const listUsableMcpResourceTypes = (tools: UsableTools): McpResource[] =>
  mcpResourceTypes.flatMap(({ name, getTool, idArgument, listTool, ...description }) => {
    const get = findUsableTool(tools, getTool);
    const list = listTool === undefined ? undefined : findUsableTool(tools, listTool);
    if (!get) return [];
    const read: McpResource['read'] = async (uri, variables) => {
      const text = await readResourceText(tools, get, { [idArgument]: variables[idArgument] });
      return text === undefined ? undefined : { contents: [{ uri, mimeType: mcpResourceMimeType, text }] };
    };
    return [{ name, ...description, mimeType: mcpResourceMimeType, list: list && (() => listNewestResources(tools, list, name)), read }];
  });

async function listNewestResources(tools: UsableTools, list: McpTool, name: McpResourceType['name']) {
  const rows = parseIdsAndStatusesFromList(list, await tools.send(list, { limit: maxListedResources }));
  const resources = rows.map(({ id, status }) => ({ uri: formatResourceUri(name, id), name: `${name} ${id}`, description: status }));
  return { resources };
}

/** Returns the JSON text of a resource; `undefined` if it does not exist, or the caller may not access it. */
export async function readResourceText(
  { send }: UsableTools,
  get: McpTool,
  toolArguments: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const response = await send(get, toolArguments);
  if (response.status === 404 || response.status === 400) return undefined;
  parseSuccessfulResponse(get, response);
  return response.text;
}

/** Returns the ID and the status of each row of a list. @throws {Error} if the API rejected the request */
export function parseIdsAndStatusesFromList(list: McpTool, response: ToolResponse): { id: string; status: string }[] {
  const page = parseSuccessfulResponse(list, response);
  const rows = isJsonObject(page) && Array.isArray(page['data']) ? page['data'].filter(isJsonObject) : [];
  return rows.map(({ id, status }) => ({ id: jsonPrimitiveToText(id), status: jsonPrimitiveToText(status) }));
}

function parseSuccessfulResponse(tool: McpTool, response: ToolResponse): JsonValue {
  if (response.status >= 400) throw new Error(describeApiError(tool, response));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the result of JSON.parse is a JSON value
  return JSON.parse(response.text) as JsonValue;
}
