import type { Client, OAuthClientMetadata } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startClientMetadataServer, type ClientMetadataServer } from '../../support/network/client-metadata-server.ts';
import { startMandateServer, type JsonBody } from '../../support/server/start-mandate.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { createTestShop } from '../../support/shop/test-shop.ts';
import { connectAssistant, createAssistant } from '../../support/mcp/assistant.ts';

requireOneProcess('the server fetches documents from loopback');

let documents: ClientMetadataServer;
beforeAll(async () => {
  documents = await startClientMetadataServer();
});
afterAll(() => documents.close());

const metadata: OAuthClientMetadata = { client_name: 'Test assistant', redirect_uris: ['http://127.0.0.1:49152/callback'] };

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
    const assistant = createAssistant(metadata, { clientMetadataUrl: clientId });
    const client = await connectAssistant(mandate, await signUp(mandate.origin), assistant);
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
    const assistant = createAssistant(metadata);
    const client = await connectAssistant(mandate, await signUp(mandate.origin), assistant);
    expect(assistant.clientState.client?.client_id).toMatch(/^app-/);
    expect(await productNames(client)).toContain(name);
    await client.close();
    await mandate.close();
  });
});
