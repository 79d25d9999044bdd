import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startClientMetadataServer, type ClientMetadataServer } from '../support/network/client-metadata-server.ts';
import { startMandateServer, type JsonBody, type MandateServer } from '../support/server/start-mandate.ts';
import { signUp, type TestUser } from '../support/oauth/oauth-flow.ts';
import { requireOneProcess } from '../support/server/process-mode.ts';
import { createTestShop } from '../support/shop/test-shop.ts';
import { completeAuthorization } from './complete-authorization.ts';
import { saveStateIn, type McpClientState } from './mcp-oauth-provider.ts';

requireOneProcess('its server fetches documents from loopback');

let documents: ClientMetadataServer;
beforeAll(async () => {
  documents = await startClientMetadataServer();
});
afterAll(() => documents.close());

const metadata: OAuthClientMetadata = { client_name: 'Test assistant', redirect_uris: ['http://127.0.0.1:49152/callback'] };

/** Creates an OAuth client provider with client metadata but no client ID, and the object in which the provider saves its state. */
function createAssistant(clientMetadataUrl?: string) {
  const clientState: McpClientState & { client?: StoredOAuthClientInformation } = { verifier: '' };
  const provider: OAuthClientProvider = {
    redirectUrl: metadata.redirect_uris[0] ?? '',
    clientMetadata: { ...metadata, grant_types: ['authorization_code', 'refresh_token'] },
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientInformation: () => clientState.client,
    saveClientInformation: (client) => void (clientState.client = client),
    ...saveStateIn(clientState),
  };
  return { clientState, provider };
}

/** Connects without a token, completes the authorization with the user's consent, and connects again. */
async function connect(
  mandate: MandateServer,
  person: TestUser,
  { clientState, provider }: ReturnType<typeof createAssistant>,
): Promise<Client> {
  const url = new URL(`${mandate.origin}/mcp`);
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  await expect(new Client({ name: 'test', version: '1.0.0' }).connect(transport)).rejects.toThrow(UnauthorizedError);
  const callbackUrl = await completeAuthorization(person, clientState.authorizationUrl ?? '');
  await transport.finishAuth(callbackUrl.searchParams);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
  return client;
}

async function productNames(client: Client): Promise<string[]> {
  const { isError, structuredContent } = await client.callTool({ name: 'products_list', arguments: {} });
  expect(isError ?? false).toBe(false);
  const body: JsonBody = structuredContent;
  return body.data.map(({ name }: JsonBody) => name);
}

describe('the MCP client that knows only the endpoint URL can call a tool', () => {
  test('with a client ID metadata document', async () => {
    const mandate = await startMandateServer({ documentNetwork: documents.networkPolicy });
    const { name } = await (await createTestShop(mandate)).createProduct();
    const clientId = documents.publishMetadata('/client.json', metadata);
    const assistant = createAssistant(clientId);
    const client = await connect(mandate, await signUp(mandate.origin), assistant);
    expect(assistant.clientState.client?.client_id).toBe(clientId);
    expect(await productNames(client)).toContain(name);
    const orders = await client.callTool({ name: 'orders_list', arguments: {} });
    expect(orders.isError ?? false).toBe(false);
    expect(assistant.clientState.tokens?.scope).toContain('orders.read');
    expect(assistant.clientState.tokens?.scope).not.toContain('manage');
    expect(assistant.clientState.tokens?.refresh_token).toBeTypeOf('string');
    await client.close();
    await mandate.close();
  });

  test('with open dynamic client registration', async () => {
    const mandate = await startMandateServer({ openRegistration: true });
    const { name } = await (await createTestShop(mandate)).createProduct();
    const assistant = createAssistant();
    const client = await connect(mandate, await signUp(mandate.origin), assistant);
    expect(assistant.clientState.client?.client_id).toMatch(/^app-/);
    expect(await productNames(client)).toContain(name);
    await client.close();
    await mandate.close();
  });
});
