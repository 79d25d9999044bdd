import { applicationLinkSchemas } from '@mandate/contract';
import { z } from 'zod';
import type { ApplicationInput } from '../../applications/validate-and-create-application.ts';
import {
  grantTypesOfSelfRegisteredApplications,
  scopesOfSelfRegisteredApplications,
} from '../../applications/validate-and-create-application.ts';
import { supportedGrantTypes } from '../../applications/application.entity.ts';
import type { FetchedDocument } from '../../outgoing-http/fetch-third-party-document.ts';
import {
  clampedCacheSecondsFromHeaders,
  parseFetchedJsonDocument,
  UnusableDocumentError,
} from '../../outgoing-http/fetch-and-parse-json-document.ts';
import { findSelfRegistrationError } from './dynamic-client-registration.ts';
import { formatInEnglish } from '../../http/problem-details/translate-detail.ts';

/**
 * Supported properties of a client ID metadata document. Unsupported properties are ignored (RFC 7591 section 2), in particular key and
 * logo URLs, and links that are not https URLs.
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
  policy_uri: applicationLinkSchemas.policy_uri.nullish().catch(null),
  tos_uri: applicationLinkSchemas.tos_uri.nullish().catch(null),
  client_secret: z.undefined({ invalid_type_error: 'must not be in a public document' }),
});

/**
 * Converts a client ID metadata document (draft-ietf-oauth-client-id-metadata-document section 4) into an application: a public client
 * without administrative scopes. Scopes and grant types that the server does not support or that such clients may not use are dropped.
 * @throws {UnusableDocumentError}
 */
export function applicationFromMetadataDocument(clientId: string, document: FetchedDocument, now: Date): ApplicationInput {
  const metadata = parseDocument(document);
  if (metadata.client_id !== clientId) throw new UnusableDocumentError('client_id in the document is not the URL of the document');
  if (metadata.token_endpoint_auth_method !== 'none') throw new UnusableDocumentError('token_endpoint_auth_method must be none');
  if (!metadata.response_types.includes('code')) throw new UnusableDocumentError('response_types must contain code');
  const requestedScopes = metadata.scope?.split(' ');
  const input: ApplicationInput = {
    clientId,
    name: metadata.client_name ?? new URL(clientId).host,
    type: 'public',
    policyUri: metadata.policy_uri ?? null,
    tosUri: metadata.tos_uri ?? null,
    redirectUris: metadata.redirect_uris,
    postLogoutRedirectUris: metadata.post_logout_redirect_uris,
    scopes: scopesOfSelfRegisteredApplications.filter((name) => requestedScopes?.includes(name) ?? true),
    grantTypes: supportedGrantTypes.filter(
      (name) => metadata.grant_types.includes(name) && grantTypesOfSelfRegisteredApplications.includes(name),
    ),
    registration: 'metadata_document',
    metadataExpiresAt: new Date(now.getTime() + clampedCacheSecondsFromHeaders(document, now) * 1000),
  };
  const fault = findSelfRegistrationError(input, false);
  if (fault) throw new UnusableDocumentError(`${fault.field} ${formatInEnglish(fault.detail)}`);
  return input;
}

function parseDocument(document: FetchedDocument): z.output<typeof documentSchema> {
  const parsed = documentSchema.safeParse(parseFetchedJsonDocument(document));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UnusableDocumentError(`${issue?.path.join('.') || 'the document'} is not valid: ${issue?.message ?? ''}`);
}
