/**
 * Signs in at an MCP endpoint with version 1 of the TypeScript SDK, calls a tool, requests one more scope, and refreshes its token. The
 * client knows only the URL and its own metadata. Prints each authorization URL, reads the callback URL from standard input, and at the end
 * prints the results as JSON.
 */
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';

const [url, redirectUri, metadataUrl] = process.argv.slice(2);
const lines = createInterface(process.stdin)[Symbol.asyncIterator]();
const state = {};
const authProvider = {
  redirectUrl: redirectUri,
  clientMetadataUrl: metadataUrl || undefined,
  clientMetadata: { client_name: 'TypeScript assistant', redirect_uris: [redirectUri] },
  clientInformation: () => state.client,
  saveClientInformation: (client) => void (state.client = client),
  tokens: () => (state.needsScope ? { ...state.tokens, refresh_token: undefined } : state.tokens),
  saveTokens: (tokens) => void Object.assign(state, { tokens, needsScope: false }),
  codeVerifier: () => state.verifier,
  saveCodeVerifier: (verifier) => void (state.verifier = verifier),
  redirectToAuthorization: (authorizationUrl) => void process.stdout.write(`${authorizationUrl.href}\n`),
};

/** Runs `use` with a connected client. If the user has to sign in first, waits for the callback, connects again and runs `use`. */
async function withClient(use) {
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  const client = new Client({ name: 'typescript-assistant', version: '1.0.0' });
  try {
    await client.connect(transport);
    return await use(client);
  } catch (error) {
    if (error instanceof StreamableHTTPError && error.code === 403 && !state.needsScope) {
      // If there is a refresh token, this version of the SDK refreshes the token instead of requesting the scope.
      state.needsScope = true;
      return await withClient(use);
    }
    if (!(error instanceof UnauthorizedError)) throw error;
    const callback = new URL((await lines.next()).value);
    await transport.finishAuth(callback.searchParams.get('code'));
    return await withClient(use);
  } finally {
    await client.close();
  }
}

const tools = await withClient(async (client) => (await client.listTools()).tools.map(({ name }) => name));
const products = await withClient((client) => client.callTool({ name: 'products_list', arguments: {} }));
const { scope } = state.tokens;
const order = { items: [{ product_id: 1, quantity: 1 }], delivery: { method: 'pickup', recipient_name: 'A' } };
const placed = await withClient((client) => client.callTool({ name: 'orders_create', arguments: order }));
const { access_token: accessToken, scope: scopeAfterStepUp } = state.tokens;
state.tokens = { ...state.tokens, access_token: 'expired' };
await withClient((client) => client.callTool({ name: 'products_list', arguments: {} }));
const refreshed = !['expired', accessToken].includes(state.tokens.access_token);
const results = { tools, products: products.content[0].text, scope, order: placed.content[0].text, scopeAfterStepUp, refreshed };
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit());
