import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { createAssistant, type Assistant } from '../../support/mcp/assistant.ts';
import type { ClientMetadataServer } from '../../support/network/client-metadata-server.ts';
import { completeAuthorization } from '../../support/oauth/complete-authorization.ts';
import { signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import type { JsonBody, MandateServer } from '../../support/server/start-mandate.ts';
import { createTestShop } from '../../support/shop/test-shop.ts';
import { SessionRecord } from './session-record.ts';

const metadata = { client_name: 'Errand', redirect_uris: ['https://errand.example/callback'] };
/** The limits that the customer enters on the consent page. */
const limits = { limit_currency: 'EUR', limit_per_order: '30.00', limit_per_period: '40.00', limit_period: 'month' };

/**
 * Connects an assistant to a server, places an order within the customer's limits, and returns a record of all messages between the
 * assistant and the server. The tool calls are fixed; no language model is involved.
 */
export async function recordAssistantSession(mandate: MandateServer, documents: ClientMetadataServer): Promise<string> {
  const shop = await createTestShop(mandate);
  const mug = await shop.createProduct({ sku: 'MUG-RED', name: 'Red enamel mug', category: 'kitchen', price: 925, stock: 40 });
  await shop.createProduct({ sku: 'MUG-BLUE', name: 'Blue enamel mug', category: 'kitchen', price: 925, stock: 0 });
  const customer = await signUp(mandate.origin, { name: 'Anna Lee' });
  const clientId = documents.publishMetadata('/client.json', metadata);
  const record = new SessionRecord([mandate.origin, 'https://shop.example'], [new URL(clientId).origin, 'https://errand.example']);
  const session = new RecordedSession(mandate, customer, createAssistant(metadata, { clientMetadataUrl: clientId }), record);
  writeIntroduction(record);
  await session.connect();
  await session.findProducts();
  await session.requestPermissionToOrder(mug.id);
  await session.order(mug.id);
  return record.toMarkdown();
}

function writeIntroduction(record: SessionRecord): void {
  record.text(
    '# A recorded assistant session',
    'This page shows how an assistant that knows only the URL of a shop signs a customer in, asks for permission to order, and orders within the limits that the customer sets. `npm run assistant:record` generates this page: it starts a server, and sends the requests that an assistant would send, with the official MCP client. The tool calls are fixed; no language model is involved. `test/docs/assistant-session` fails if the page is out of date.',
    'Host names and times have been replaced, and only some fields of each order are shown. [Operation](../operations.md#assistants-mcp) describes the endpoint, and [Limits for applications](../limits.md) describes the limits.',
  );
}

class RecordedSession {
  readonly #customer: TestUser;
  readonly #assistant: Assistant;
  readonly #record: SessionRecord;
  readonly #url: URL;
  #transport!: StreamableHTTPClientTransport;
  #client!: Client;
  #requests: string[] = [];

  constructor(mandate: MandateServer, customer: TestUser, assistant: Assistant, record: SessionRecord) {
    this.#url = new URL(`${mandate.origin}/mcp`);
    [this.#customer, this.#assistant, this.#record] = [customer, assistant, record];
  }

  /** Signs the customer in. At the start, the assistant knows only the URL. */
  async connect(): Promise<void> {
    const { clientState } = this.#assistant;
    this.#record.heading('Sign-in');
    await this.#openConnection().catch(requireUnauthorized);
    this.#record.text('The assistant requests `/mcp`, and discovers the authorization server from the response:');
    this.#writeRequests();
    this.#writeAuthorizationRequest();
    this.#record.text('Anna signs in and approves the request. The assistant redeems the code and connects:');
    await this.#transport.finishAuth((await completeAuthorization(this.#customer, clientState.authorizationUrl ?? '')).searchParams);
    await this.#openConnection();
    this.#writeRequests();
    const { tools } = await this.#client.listTools();
    this.#record.text(
      `The server offers the tools that the token permits: ${tools.map(({ name }) => `\`${name}\``).join(', ')}. The instructions of the MCP server list the scopes that the other tools require.`,
    );
  }

  async findProducts(): Promise<void> {
    this.#record.heading('Search');
    this.#record.text('Anna: “Order two enamel mugs for me. I will pick them up.”');
    await this.#call('products_list', { q: 'enamel mug' });
    await this.#call('delivery_methods_list', {});
  }

  /** Calls a tool for which the assistant lacks the scope, and requests the scope from the customer. */
  async requestPermissionToOrder(productId: number): Promise<void> {
    this.#record.heading('Permission to order, with limits');
    this.#record.text('The token does not permit placing orders, so the server rejects the call and names the scopes to request:');
    this.#writeCall('orders_create', buildOrder(productId, 2));
    this.#requests = [];
    await this.#client.callTool({ name: 'orders_create', arguments: buildOrder(productId, 2) }).catch(requireUnauthorized);
    this.#writeRequests();
    this.#writeAuthorizationRequest();
    this.#record.text(
      `On the consent page, Anna allows at most ${limits.limit_per_order} EUR per order and ${limits.limit_per_period} EUR per month. The page states that the assistant can access only the orders that it places. This is the default for all applications that the shop does not operate. Anna can grant wider access later on the \`/account/apps\` page. The assistant redeems the code and connects again.`,
    );
    const { authorizationUrl = '' } = this.#assistant.clientState;
    await this.#transport.finishAuth((await completeAuthorization(this.#customer, authorizationUrl, limits)).searchParams);
    await this.#openConnection();
  }

  async order(productId: number): Promise<void> {
    this.#record.heading('Order');
    this.#record.text('The assistant checks the price without placing the order, and asks Anna to confirm it:');
    await this.#call('orders_create', { ...buildOrder(productId, 2), dry_run: true }, ['status', 'total', 'currency']);
    this.#record.text('Anna: “Yes, please.” With the idempotency key, the call can be repeated safely if no response arrives.');
    const order = await this.#call('orders_create', { ...buildOrder(productId, 2), idempotency_key: 'mugs-1' }, [
      'id',
      'status',
      'total',
      'currency',
    ]);
    this.#record.text('The assistant can see how much of the budget remains:');
    await this.#call('authorization_get', {}, ['budget']);
    this.#record.heading('Refusals');
    this.#record.text('Anna: “Order four more.” The order would cost more than Anna allows per order:');
    await this.#call('orders_create', { ...buildOrder(productId, 4), idempotency_key: 'mugs-2' });
    this.#record.text('Three mugs cost less than 30 EUR, but more than the remaining budget:');
    await this.#call('orders_create', { ...buildOrder(productId, 3), idempotency_key: 'mugs-3' });
    this.#record.text(
      "The assistant tells Anna why the order was rejected, and what she can do: order fewer mugs, wait, approve this order, or change the limit on the shop's page.",
    );
    await this.#call('orders_get', { order_id: order.id }, ['id', 'status', 'total', 'currency']);
    await this.#client.close();
  }

  /** Connects with the stored tokens, if any. */
  async #openConnection(): Promise<void> {
    this.#requests = [];
    const fetchAndRecord: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const path = new URL(input instanceof Request ? input.url : input).pathname;
      const challenge = response.headers.get('www-authenticate');
      const header = challenge === null ? '' : `\n  WWW-Authenticate: ${challenge}`;
      this.#requests.push(`${init?.method ?? 'GET'} ${path} -> ${response.status}${header}`);
      return response;
    };
    this.#transport = new StreamableHTTPClientTransport(this.#url, { authProvider: this.#assistant.provider, fetch: fetchAndRecord });
    this.#client = new Client({ name: 'errand', version: '1.0.0' });
    await this.#client.connect(this.#transport);
  }

  #writeRequests(): void {
    this.#record.block('text', this.#requests.join('\n'));
    this.#requests = [];
  }

  #writeAuthorizationRequest(): void {
    const shown = ['scope', 'client_id', 'redirect_uri', 'resource'];
    const parameters = this.#assistant.clientState.authorizationUrl?.searchParams ?? new URLSearchParams();
    const lines = shown.map((name) => `${name}: ${parameters.get(name) ?? ''}`);
    this.#record.text(
      `The assistant opens \`${this.#assistant.clientState.authorizationUrl?.pathname}\` in Anna's browser with these parameters, and with PKCE:`,
    );
    this.#record.block('text', lines.join('\n'));
  }

  #writeCall(name: string, toolArguments: object): void {
    this.#record.block('text', `${name} ${JSON.stringify(toolArguments)}`);
  }

  /** Calls a tool, and records the call and the text of the result. `fields` selects the fields of a JSON result that are recorded. */
  async #call(name: string, toolArguments: Record<string, unknown>, fields?: readonly string[]): Promise<JsonBody> {
    const { content, isError } = await this.#client.callTool({ name, arguments: toolArguments });
    const [text = ''] = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const isJson = text.startsWith('{');
    const body: JsonBody = isJson ? JSON.parse(text) : undefined;
    const shown = isJson ? JSON.stringify(Object.fromEntries((fields ?? []).map((field) => [field, body[field]]))) : text;
    this.#record.block('text', `${name} ${JSON.stringify(toolArguments)}\n${isError ? 'refused: ' : ''}${shown}`);
    return body;
  }
}

const buildOrder = (productId: number, quantity: number) => ({
  items: [{ product_id: productId, quantity }],
  delivery: { method: 'pickup', recipient_name: 'Anna Lee' },
});

function requireUnauthorized(error: unknown): void {
  if (!(error instanceof UnauthorizedError)) throw error;
}
