import { fromJsonSchema, type GetPromptResult, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { findTool, formatResourceUri, parseSuccessfulResponse, readResourceText, type UsableTools } from './register-mcp-resources.ts';

/** Registers the prompts whose tools the caller can use. A prompt is a task that the user can select in the assistant. */
export function registerMcpPrompts(server: McpServer, tools: UsableTools): void {
  const canUse = (...names: string[]): boolean => names.every((name) => findTool(tools, name) !== undefined);
  if (canUse('orders_list', 'orders_get', 'products_get', 'orders_create')) registerReorderPrompt(server, tools);
  if (canUse('products_list', 'delivery_methods_list', 'orders_create')) registerFindAndOrderPrompt(server);
  if (canUse('orders_list', 'orders_get')) registerTrackOrderPrompt(server, tools);
}

function registerReorderPrompt(server: McpServer, tools: UsableTools): void {
  const config = { title: 'Reorder my last order', description: 'Places an order with the same items and delivery as the newest order.' };
  server.registerPrompt('reorder_last_order', config, async () => {
    const id = await findNewestOrderId(tools);
    if (id === undefined) return promptOfText('I have not placed any order yet. Ask me what I want to order.');
    const text = [
      `Order the items of order ${id} again.`,
      'First read the current price and stock of each product with products_get.',
      'Then tell me the items, the delivery and the total, and what has changed since the order, and ask me whether to place the order.',
      onlyAfterConfirmation,
    ].join(' ');
    return promptWithOrder(tools, text, id);
  });
}

function registerFindAndOrderPrompt(server: McpServer): void {
  const argsSchema = fromJsonSchema<{ what: string; max_price?: string }>({
    type: 'object',
    properties: {
      what: { type: 'string', description: 'What to order, such as `six red mugs`.' },
      max_price: { type: 'string', description: 'Maximum total, such as `30 EUR`.' },
    },
    required: ['what'],
  });
  const config = { title: 'Find and order', description: 'Finds products that match a description, and orders them.', argsSchema };
  server.registerPrompt('find_and_order', config, ({ what, max_price: maxPrice }) =>
    promptOfText(
      [
        `I want to order: ${what}.`,
        ...(maxPrice === undefined ? [] : [`The total must not exceed ${maxPrice}.`]),
        'Find products with products_list (parameter q), and compare their prices and stock.',
        'Read the delivery methods with delivery_methods_list.',
        'Then tell me the items, the delivery and the total, and ask me whether to place the order.',
        onlyAfterConfirmation,
      ].join(' '),
    ),
  );
}

function registerTrackOrderPrompt(server: McpServer, tools: UsableTools): void {
  const argsSchema = fromJsonSchema<{ order_id?: string }>({
    type: 'object',
    properties: { order_id: { type: 'string', description: 'ID of the order (default: the newest order).' } },
  });
  const config = { title: 'Track an order', description: 'Reports the payment and shipment status of an order.', argsSchema };
  server.registerPrompt('track_order', config, async ({ order_id: requestedId }) => {
    const id = requestedId ?? (await findNewestOrderId(tools));
    if (id === undefined) return promptOfText('I have not placed any order yet. Tell me so.');
    const shipments = findTool(tools, 'shipments_list') ? ' Read its shipments with shipments_list.' : '';
    const text = `Tell me whether order ${id} is paid, shipped or delivered, and what happens next.${shipments}`;
    return promptWithOrder(tools, text, id);
  });
}

const onlyAfterConfirmation =
  'Call orders_create only after I have agreed. If you have to repeat the call, use the same idempotency_key, so that the order is placed once.';

const promptOfText = (text: string): GetPromptResult => ({ messages: [{ role: 'user', content: { type: 'text', text } }] });

const newestOrder = z.object({ data: z.array(z.object({ id: z.number() })) });

async function findNewestOrderId(tools: UsableTools): Promise<number | undefined> {
  const list = findTool(tools, 'orders_list');
  if (!list) return undefined;
  // Staff can list the orders of all customers.
  const response = await tools.send(list, { limit: 1, ...(tools.userId !== null && { user_id: tools.userId }) });
  return newestOrder.parse(parseSuccessfulResponse(response)).data[0]?.id;
}

async function promptWithOrder(tools: UsableTools, text: string, id: number | string): Promise<GetPromptResult> {
  const get = findTool(tools, 'orders_get');
  if (!get) return promptOfText(text);
  const uri = formatResourceUri('order', id);
  const order = await readResourceText(tools, get, { order_id: id }, uri);
  const resource = { uri, mimeType: 'application/json', text: order };
  return { messages: [...promptOfText(text).messages, { role: 'user', content: { type: 'resource', resource } }] };
}
