import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDocumentServer, type DocumentServer } from '../support/network/document-server.ts';
import { startMandate, type Body, type Mandate } from '../support/server/start-mandate.ts';
import { signUp, type Person } from '../support/oauth/oauth-flow.ts';
import { needsOneProcess } from '../support/server/process-mode.ts';
import { openShop } from '../support/server/shop.ts';
import { followThrough } from './sign-in-with.ts';

needsOneProcess('its server fetches documents from loopback');

let documents: DocumentServer;
beforeAll(async () => {
  documents = await openDocumentServer();
});
afterAll(() => documents.close());

const metadata: OAuthClientMetadata = { client_name: 'Test assistant', redirect_uris: ['http://127.0.0.1:49152/callback'] };

/** An assistant that knows the URL of the MCP endpoint, and its own metadata. */
function assistant(clientMetadataUrl?: string) {
  const kept: {
    verifier: string;
    client?: StoredOAuthClientInformation;
    tokens?: StoredOAuthTokens;
    sentTo?: URL;
    found?: OAuthDiscoveryState;
  } = { verifier: '' };
  const provider: OAuthClientProvider = {
    redirectUrl: metadata.redirect_uris[0] ?? '',
    clientMetadata: { ...metadata, grant_types: ['authorization_code', 'refresh_token'] },
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => void (kept.sentTo = url),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: (found) => void (kept.found = found),
    discoveryState: () => kept.found,
  };
  return { kept, provider };
}

/** Connects, is sent to the sign-in, lets the user consent, and connects again. */
async function connect(mandate: Mandate, person: Person, { kept, provider }: ReturnType<typeof assistant>): Promise<Client> {
  const url = new URL(`${mandate.origin}/mcp`);
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  await expect(new Client({ name: 'test', version: '1.0.0' }).connect(transport)).rejects.toThrow(UnauthorizedError);
  const back = await followThrough(person, kept.sentTo ?? '');
  await transport.finishAuth(back.searchParams);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
  return client;
}

async function productNames(client: Client): Promise<string[]> {
  const { isError, content } = await client.callTool({ name: 'products_list', arguments: {} });
  expect(isError ?? false).toBe(false);
  const [first] = content;
  const body: Body = JSON.parse(first?.type === 'text' ? first.text : '');
  return body.data.map(({ name }: Body) => name);
}

describe('the MCP client that knows only the URL of the endpoint gets the result of a tool', () => {
  test('by its client ID metadata document', async () => {
    const mandate = await startMandate({ documentNetwork: documents.network });
    const { name } = await (await openShop(mandate)).product();
    const clientId = documents.publish('/client.json', metadata);
    const program = assistant(clientId);
    const client = await connect(mandate, await signUp(mandate.origin), program);
    expect(program.kept.client?.client_id).toBe(clientId);
    expect(await productNames(client)).toContain(name);
    const orders = await client.callTool({ name: 'orders_list', arguments: {} });
    expect(orders.isError ?? false).toBe(false);
    expect(program.kept.tokens?.scope).toContain('orders.read');
    expect(program.kept.tokens?.scope).not.toContain('manage');
    expect(program.kept.tokens?.refresh_token).toBeTypeOf('string');
    await client.close();
    await mandate.close();
  });

  test('by open dynamic registration', async () => {
    const mandate = await startMandate({ openRegistration: true });
    const { name } = await (await openShop(mandate)).product();
    const program = assistant();
    const client = await connect(mandate, await signUp(mandate.origin), program);
    expect(program.kept.client?.client_id).toMatch(/^app-/);
    expect(await productNames(client)).toContain(name);
    await client.close();
    await mandate.close();
  });
});
