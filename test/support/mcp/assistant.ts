import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { TestUser } from '../oauth/oauth-flow.ts';
import type { MandateServer } from '../server/start-mandate.ts';
import { completeAuthorization } from '../oauth/complete-authorization.ts';
import { saveStateIn, type McpClientState } from './mcp-oauth-provider.ts';

type AssistantState = McpClientState & { client?: StoredOAuthClientInformation };
export type Assistant = { readonly clientState: AssistantState; readonly provider: OAuthClientProvider };

/**
 * Creates an OAuth client provider without a client ID, and the object in which the provider saves its state.
 * @param options.redirectUrl the URL at which the assistant receives the authorization code (default: the first redirect URI)
 * @param options.clientMetadataUrl the URL of the client ID metadata document; without it, the assistant registers itself
 */
export function createAssistant(
  metadata: OAuthClientMetadata,
  { redirectUrl = metadata.redirect_uris[0] ?? '', clientMetadataUrl }: { redirectUrl?: string; clientMetadataUrl?: string } = {},
): Assistant {
  const clientState: AssistantState = { verifier: '' };
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { grant_types: ['authorization_code', 'refresh_token'], ...metadata },
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientInformation: () => clientState.client,
    saveClientInformation: (client) => void (clientState.client = client),
    ...saveStateIn(clientState),
  };
  return { clientState, provider };
}

/** Connects without a token, completes the authorization with the user's consent, and connects again. */
export async function connectAssistant(
  { origin }: Pick<MandateServer, 'origin'>,
  person: Pick<TestUser, 'browser'>,
  { clientState, provider }: Assistant,
): Promise<Client> {
  const url = new URL(`${origin}/mcp`);
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  await expect(new Client({ name: 'test', version: '1.0.0' }).connect(transport)).rejects.toThrow(UnauthorizedError);
  const callbackUrl = await completeAuthorization(person, clientState.authorizationUrl ?? '');
  await transport.finishAuth(callbackUrl.searchParams);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
  return client;
}
