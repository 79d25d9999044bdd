import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startClientMetadataServer, type ClientMetadataServer } from '../../support/network/client-metadata-server.ts';
import { createDocumentPath } from '../../support/oauth/client-metadata-fixture.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { startMandateServer, type MandateServer } from '../../support/server/start-mandate.ts';
import { createTestShop } from '../../support/shop/test-shop.ts';
import { connectAssistant, createAssistant } from '../../support/mcp/assistant.ts';

requireOneProcess('the server fetches documents from loopback');

/** Client ID metadata documents as their vendors published them in September 2026, except that `client_id` has a different host. */
const publishedDocuments = {
  'Visual Studio Code': {
    client_name: 'Visual Studio Code',
    logo_uri: 'https://code.visualstudio.com/assets/branding/code-stable.png',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    client_uri: 'https://vscode.dev/product',
    redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
  },
  'Claude Code': {
    client_name: 'Claude Code',
    client_uri: 'https://claude.ai',
    redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
};

/** The path of each document on its vendor's host, and the redirect URIs that the assistant uses. */
const assistants = [
  ['Visual Studio Code', '/oauth/client-metadata.json', 'http://127.0.0.1:33418/'],
  ['Visual Studio Code', '/oauth/client-metadata.json', 'http://127.0.0.1:51234/'],
  ['Visual Studio Code', '/oauth/client-metadata.json', 'https://vscode.dev/redirect'],
  ['Claude Code', '/oauth/claude-code-client-metadata', 'http://localhost:54545/callback'],
  ['Claude Code', '/oauth/claude-code-client-metadata', 'http://127.0.0.1:54545/callback'],
] as const;

describe('an assistant with the published client metadata of', () => {
  let documents: ClientMetadataServer;
  let mandate: MandateServer;
  let productName: string;
  beforeAll(async () => {
    documents = await startClientMetadataServer();
    mandate = await startMandateServer({ documentNetwork: documents.networkPolicy });
    productName = (await (await createTestShop(mandate)).createProduct()).name;
  });
  afterAll(async () => {
    await mandate.close();
    await documents.close();
  });

  test.each(assistants)('%s (%s) signs in at /mcp with the redirect URI %s', async (name, path, redirectUrl) => {
    const metadata = publishedDocuments[name];
    const clientMetadataUrl = documents.publishMetadata(path, metadata);
    const assistant = createAssistant(metadata, { redirectUrl, clientMetadataUrl });
    const client = await connectAssistant(mandate, await signUp(mandate.origin), assistant);
    expect(assistant.clientState.authorizationUrl?.searchParams.get('client_id')).toBe(clientMetadataUrl);
    expect(assistant.clientState.tokens?.scope?.split(' ')).toContain('orders.read');
    const { content } = await client.callTool({ name: 'products_list', arguments: {} });
    expect(JSON.stringify(content)).toContain(productName);
    await client.close();
  });

  test.each([
    ['Visual Studio Code', 'http://127.0.0.1:33418/other'],
    ['Claude Code', 'https://attacker.example/callback'],
  ] as const)('%s cannot sign in with another redirect URI (%s)', async (name, redirectUrl) => {
    const clientMetadataUrl = documents.publishMetadata(createDocumentPath(), publishedDocuments[name]);
    const assistant = createAssistant(publishedDocuments[name], { redirectUrl, clientMetadataUrl });
    await expect(connectAssistant(mandate, await signUp(mandate.origin), assistant)).rejects.toThrow('redirect_uri');
  });
});
