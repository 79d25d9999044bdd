import type { JsonObject } from '../schema/json.ts';
import {
  findUsableTool,
  formatResourceUri,
  mcpResourceMimeType,
  parseIdsAndStatusesFromList,
  readResourceText,
  type UsableTools,
} from './mcp-resources.ts';

export type McpPromptMessage = {
  readonly role: 'user';
  readonly content:
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'resource'; readonly resource: { readonly uri: string; readonly mimeType: string; readonly text: string } };
};

/** A task that the user can select in the assistant. */
export type McpPrompt = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON schema of the arguments; undefined if the prompt has none. */
  readonly argumentsSchema?: JsonObject;
  /** Tools that the prompt tells the assistant to call. The prompt is offered only if the caller can use all of these tools. */
  readonly requiredTools: readonly string[];
  readonly write: (tools: UsableTools, promptArguments: Readonly<Record<string, string | undefined>>) => Promise<McpPromptMessage[]>;
};

const onlyAfterConfirmation =
  'Call orders_create only after I have agreed. If you have to repeat the call, use the same idempotency_key, so that the order is placed only once.';

const prompts: readonly McpPrompt[] = [
  {
    name: 'reorder_last_order',
    title: 'Reorder my last order',
    description: 'Places an order with the same items and delivery as the newest order.',
    requiredTools: ['orders_list', 'orders_get', 'products_get', 'orders_create'],
    write: async (tools) => {
      const id = await findNewestOrderId(tools);
      if (id === undefined) return [createTextMessage('I have not placed any orders yet. Ask me what I want to order.')];
      const text = [
        `Order the items of order ${id} again.`,
        'First read the current price and stock of each product with products_get.',
        'Then tell me the items, the delivery and the total, and what has changed since the order, and ask me whether to place the order.',
        onlyAfterConfirmation,
      ].join(' ');
      return addOrder(tools, text, id);
    },
  },
  {
    name: 'find_and_order',
    title: 'Find and order',
    description: 'Finds products that match a description, and orders them.',
    argumentsSchema: {
      type: 'object',
      properties: {
        what: { type: 'string', description: 'Items to order, such as `six red mugs`.' },
        max_price: { type: 'string', description: 'Maximum total, such as `30 EUR`.' },
      },
      required: ['what'],
    },
    requiredTools: ['products_list', 'delivery_methods_list', 'orders_create'],
    write: async (_tools, { what = '', max_price: maxPrice }) => [
      createTextMessage(
        [
          `I want to order: ${what}.`,
          ...(maxPrice === undefined ? [] : [`The total must not exceed ${maxPrice}.`]),
          'Find products with products_list (parameter q), and compare their prices and stock.',
          'Read the delivery methods with delivery_methods_list.',
          'Then tell me the items, the delivery and the total, and ask me whether to place the order.',
          onlyAfterConfirmation,
        ].join(' '),
      ),
    ],
  },
  {
    name: 'track_order',
    title: 'Track an order',
    description: 'Reports the payment and shipment status of an order.',
    argumentsSchema: {
      type: 'object',
      properties: { order_id: { type: 'string', description: 'ID of the order (default: the newest order).' } },
    },
    requiredTools: ['orders_list', 'orders_get'],
    write: async (tools, { order_id: requestedId }) => {
      const id = requestedId ?? (await findNewestOrderId(tools));
      if (id === undefined) return [createTextMessage('I have not placed any orders yet. Tell me so.')];
      const shipments = findUsableTool(tools, 'shipments_list') ? ' Read its shipments with shipments_list.' : '';
      return addOrder(tools, `Tell me whether order ${id} is paid, shipped or delivered, and what happens next.${shipments}`, id);
    },
  },
];

/** Returns the prompts whose tools the caller can use. */
export const listUsablePrompts = (tools: UsableTools): McpPrompt[] =>
  prompts.filter(({ requiredTools }) => requiredTools.every((name) => findUsableTool(tools, name) !== undefined));

const createTextMessage = (text: string): McpPromptMessage => ({ role: 'user', content: { type: 'text', text } });

async function findNewestOrderId(tools: UsableTools): Promise<string | undefined> {
  const list = findUsableTool(tools, 'orders_list');
  if (!list) return undefined;
  // Staff can list the orders of all customers.
  const response = await tools.send(list, { limit: 1, ...(tools.userId !== null && { user_id: tools.userId }) });
  return parseIdsAndStatusesFromList(list, response)[0]?.id;
}

/** Returns the text and the order as messages. @throws {Error} if the order does not exist */
async function addOrder(tools: UsableTools, text: string, id: string): Promise<McpPromptMessage[]> {
  const get = findUsableTool(tools, 'orders_get');
  if (!get) return [createTextMessage(text)];
  const order = await readResourceText(tools, get, { order_id: id });
  if (order === undefined) throw new Error(`Order ${id} not found`);
  const resource = { uri: formatResourceUri('order', id), mimeType: mcpResourceMimeType, text: order };
  return [createTextMessage(text), { role: 'user', content: { type: 'resource', resource } }];
}
