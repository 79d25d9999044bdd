import { errors, Provider, type Adapter, type AdapterPayload } from 'oidc-provider';
import { type Application, deviceGrantType } from '../../applications/application.entity.ts';
import { clientSecretMatchesHash } from '../../applications/client-secret.ts';
import { referencePageClientId } from '../../applications/reference-page-client.ts';
import { prepareBatchedLookup } from '../../database/queries/batched-statement.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { defineObjectMetadata } from '../../memory/object-metadata.ts';
import { isUrlClientId } from './client-id-url.ts';
import { isRedirectUriOrigin } from '../protocol/redirect-origins.ts';
import { createApplicationFromMetadata } from './dynamic-client-registration.ts';
import { getMetadataDocumentFailure } from './resolve-client-id-url.ts';
import { filterApiScopes, identityScopes } from '../protocol/oauth-scopes.ts';

type ClientRow = Pick<
  Application,
  | 'clientId'
  | 'name'
  | 'type'
  | 'secretHashes'
  | 'previousSecretHash'
  | 'redirectUris'
  | 'postLogoutRedirectUris'
  | 'grantTypes'
  | 'scopes'
  | 'refreshGraceSeconds'
> & { readonly previousSecretUntil: string | null };

const findApplication = prepareBatchedLookup<ClientRow>(
  'find_active_application',
  ['text'],
  `select client_id as "clientId", name, type, secret_hashes as "secretHashes", previous_secret_hash as "previousSecretHash",
     previous_secret_until as "previousSecretUntil", redirect_uris as "redirectUris", post_logout_redirect_uris as "postLogoutRedirectUris",
     grant_types as "grantTypes", scopes, refresh_grace_seconds as "refreshGraceSeconds" from applications where client_id = $1 and status = 'active'`,
);

const prefetchedClients = defineObjectMetadata<ClientRow>('application found before');

/** Prefetches a request's client outside the transaction, where the lookup can be batched with the lookups of other requests. */
export async function prefetchClient(em: EntityManager, ctx: object, clientId: string): Promise<void> {
  const application = clientId.includes('\0') ? undefined : await findApplication(em, [clientId]);
  if (application) prefetchedClients.set(ctx, application);
}

/** Returns the authenticated client's refresh grace period in seconds, or undefined if the client does not set one. */
export function clientRefreshGraceSeconds(ctx: object, clientId: string | undefined): number | undefined {
  const application = prefetchedClients.get(ctx);
  return application?.clientId === clientId ? (application?.refreshGraceSeconds ?? undefined) : undefined;
}

/** Returns whether an active application with this client ID has a redirect URI with this origin. */
export const isApplicationOrigin =
  (em: EntityManager) =>
  async (clientId: string, origin: string): Promise<boolean> =>
    isRedirectUriOrigin((await findApplication(em, [clientId]))?.redirectUris ?? [], origin);

/**
 * Creates the client adapter for oidc-provider. The adapter reads `applications` on every request, so that changes take effect immediately.
 */
export const createClientAdapter = (em: EntityManager): Adapter => ({
  async find(clientId) {
    if (clientId.includes('\0')) return undefined;
    rejectFailedDocument(clientId);
    const { ctx } = Provider;
    const prefetched = ctx && prefetchedClients.get(ctx);
    const application = prefetched?.clientId === clientId ? prefetched : await findApplication(em, [clientId]);
    if (ctx && application) prefetchedClients.set(ctx, application);
    return application ? toClientMetadata(application, new Date()) : undefined;
  },
  upsert: (clientId, metadata) => createApplicationFromMetadata(em, clientId, metadata),
  ...unsupportedMethods(),
});

function rejectFailedDocument(clientId: string): void {
  const failure = Provider.ctx && isUrlClientId(clientId) ? getMetadataDocumentFailure(Provider.ctx) : undefined;
  if (failure !== undefined) throw new errors.InvalidClient(`client ID metadata document: ${failure}`);
}

function toClientMetadata(application: ClientRow, now: Date): AdapterPayload {
  const usesAuthorizationCode = application.grantTypes.includes('authorization_code');
  const actsForUsers = usesAuthorizationCode || application.grantTypes.includes(deviceGrantType);
  return {
    client_id: application.clientId,
    client_name: application.name,
    application_type: isNative(application) ? 'native' : 'web',
    token_endpoint_auth_method: application.type === 'public' ? 'none' : 'client_secret_basic',
    ...(application.type === 'confidential' && { client_secret: validSecretHashes(application, now).join(' ') }),
    redirect_uris: [...application.redirectUris],
    post_logout_redirect_uris: [...application.postLogoutRedirectUris],
    response_types: usesAuthorizationCode ? ['code'] : [],
    grant_types: [...application.grantTypes],
    // The scope is never empty, because oidc-provider treats an empty scope as all scopes.
    // The scope contains only known scopes, because oidc-provider rejects clients with unknown scopes.
    scope: [...(actsForUsers ? identityScopes : ['openid']), ...filterApiScopes(application.scopes)].join(' '),
  };
}

/**
 * Native clients may use any port on the loopback interface (RFC 8252 section 7.3). The API reference page must use its exact redirect URI.
 */
const isNative = ({ clientId, redirectUris }: ClientRow): boolean =>
  clientId !== referencePageClientId && redirectUris.some((uri) => !uri.startsWith('https:'));

const validSecretHashes = ({ secretHashes, previousSecretHash, previousSecretUntil }: ClientRow, now: Date): string[] => [
  ...secretHashes,
  ...(previousSecretHash != null && previousSecretUntil != null && new Date(previousSecretUntil) > now ? [previousSecretHash] : []),
];

/** Replaces oidc-provider's client secret comparison, because only secret hashes are stored. */
export function patchClientSecretComparison(provider: Provider): void {
  provider.Client.prototype.compareClientSecret = matchesStoredHash;
}

function matchesStoredHash(this: { clientSecret?: string | undefined }, secret: string): boolean {
  return (this.clientSecret ?? '').split(' ').some((hash) => clientSecretMatchesHash(hash, secret));
}

const throwUnsupported = (): never => {
  throw new Error('applications can only be changed through the API');
};

function unsupportedMethods(): Omit<Adapter, 'find' | 'upsert'> {
  return {
    findByUserCode: throwUnsupported,
    findByUid: throwUnsupported,
    consume: throwUnsupported,
    destroy: throwUnsupported,
    revokeByGrantId: throwUnsupported,
  };
}
