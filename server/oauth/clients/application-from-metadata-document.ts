import { z } from 'zod';
import type { ApplicationInput } from '../../applications/create-application.ts';
import { grantTypesOfSelfRegisteredApplications, scopesOfSelfRegisteredApplications } from '../../applications/create-application.ts';
import { supportedGrantTypes } from '../../applications/application.entity.ts';
import type { FetchedDocument } from '../../outgoing-http/fetch-third-party-document.ts';
import { findSelfRegistrationError } from './dynamic-client-registration.ts';

/** Thrown for an unusable client ID metadata document. The message is intended for the client developer. */
export class MetadataDocumentError extends Error {
  override readonly name = 'MetadataDocumentError';
}

/**
 * Supported properties of a client ID metadata document. Unsupported properties are ignored (RFC 7591 section 2), in particular key and
 * logo URLs.
 */
const documentSchema = z.object({
  client_id: z.string(),
  client_name: z.string().optional(),
  redirect_uris: z.array(z.string()),
  post_logout_redirect_uris: z.array(z.string()).default([]),
  token_endpoint_auth_method: z.string().default('none'),
  grant_types: z.array(z.string()).default(['authorization_code']),
  response_types: z.array(z.string()).default(['code']),
  scope: z.string().optional(),
  client_secret: z.undefined({ invalid_type_error: 'must not be in a public document' }),
});

/**
 * Converts a client ID metadata document (draft-ietf-oauth-client-id-metadata-document section 4) into an application: a public client
 * without administrative scopes. Scopes and grant types that the server does not support or that such clients may not use are dropped.
 * @throws {MetadataDocumentError}
 */
export function applicationFromMetadataDocument(clientId: string, document: FetchedDocument, now: Date): ApplicationInput {
  const metadata = parseDocument(document);
  if (metadata.client_id !== clientId) throw new MetadataDocumentError('client_id in the document is not the URL of the document');
  if (metadata.token_endpoint_auth_method !== 'none') throw new MetadataDocumentError('token_endpoint_auth_method must be none');
  if (!metadata.response_types.includes('code')) throw new MetadataDocumentError('response_types must contain code');
  const requestedScopes = metadata.scope?.split(' ');
  const input: ApplicationInput = {
    clientId,
    name: metadata.client_name ?? new URL(clientId).host,
    type: 'public',
    redirectUris: metadata.redirect_uris,
    postLogoutRedirectUris: metadata.post_logout_redirect_uris,
    scopes: scopesOfSelfRegisteredApplications.filter((name) => requestedScopes?.includes(name) ?? true),
    grantTypes: supportedGrantTypes.filter(
      (name) => metadata.grant_types.includes(name) && grantTypesOfSelfRegisteredApplications.includes(name),
    ),
    registration: 'metadata_document',
    metadataExpiresAt: new Date(now.getTime() + cacheSeconds(document, now) * 1000),
  };
  const fault = findSelfRegistrationError(input, false);
  if (fault) throw new MetadataDocumentError(`${fault.field} ${fault.detail}`);
  return input;
}

function parseDocument({ statusCode, headers, text }: FetchedDocument): z.output<typeof documentSchema> {
  if (statusCode !== 200) throw new MetadataDocumentError(`the response has the status ${statusCode}, not 200; redirects are not followed`);
  const contentType = String(headers['content-type'] ?? '');
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType))
    throw new MetadataDocumentError('the response must have the content type application/json');
  const parsed = documentSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new MetadataDocumentError(`${issue?.path.join('.') || 'the document'} is not valid: ${issue?.message ?? ''}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MetadataDocumentError('the document is not JSON', { cause });
  }
}

const cacheSecondsMin = 5 * 60;
const cacheSecondsMax = 24 * 60 * 60;

/**
 * Returns the document's cache lifetime in seconds: its freshness lifetime (RFC 9111 section 4.2), clamped to between 5 minutes and 24
 * hours.
 */
function cacheSeconds({ headers }: FetchedDocument, now: Date): number {
  const control = String(headers['cache-control'] ?? '');
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(control)?.[1];
  const expires = Date.parse(String(headers['expires'] ?? ''));
  const date = Date.parse(String(headers['date'] ?? ''));
  const lifetime = /\bno-(store|cache)\b/i.test(control)
    ? 0
    : maxAge !== undefined
      ? Number(maxAge) - (Number(headers['age']) || 0)
      : (expires - (Number.isNaN(date) ? now.getTime() : date)) / 1000;
  return Math.min(cacheSecondsMax, Math.max(cacheSecondsMin, Number.isNaN(lifetime) ? 0 : lifetime));
}
