import { errors, Provider, type Adapter, type AdapterPayload } from 'oidc-provider';
import { type Application, deviceGrant } from '../../applications/application.entity.ts';
import { hashMatches } from '../../applications/client-secret.ts';
import { referencePageClientId } from '../../applications/reference-page-client.ts';
import { gatheredStatement } from '../../database/queries/batched-statement.ts';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { noteOf } from '../../memory/object-metadata.ts';
import { isUrlClientId } from './client-id-url.ts';
import { isOriginOfRedirect } from '../protocol/redirect-origins.ts';
import { registerApplication } from './dynamic-client-registration.ts';
import { documentFailure } from './resolve-client-id-url.ts';
import { apiScopesAmong, identityScopes } from '../protocol/oauth-scopes.ts';

type Known = Pick<
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

const findApplication = gatheredStatement<Known>(
  'active_application',
  ['text'],
  `select client_id as "clientId", name, type, secret_hashes as "secretHashes", previous_secret_hash as "previousSecretHash",
     previous_secret_until as "previousSecretUntil", redirect_uris as "redirectUris", post_logout_redirect_uris as "postLogoutRedirectUris",
     grant_types as "grantTypes", scopes, refresh_grace_seconds as "refreshGraceSeconds" from applications where client_id = $1 and status = 'active'`,
);

const foundBefore = noteOf<Known>('application found before');

/** Finds the application of a request before the engine asks for it: together with other requests, which it cannot be in a transaction. */
export async function findClientBefore(em: Em, ctx: object, clientId: string): Promise<void> {
  const application = clientId.includes('\0') ? undefined : await findApplication(em, [clientId]);
  if (application) foundBefore.set(ctx, application);
}

/** Returns the grace period in seconds (`applications.refresh_grace_seconds`) of the client that a request has authenticated as, if it has its own. */
export function refreshGraceOfClient(ctx: object, clientId: string | undefined): number | undefined {
  const application = foundBefore.get(ctx);
  return application?.clientId === clientId ? (application?.refreshGraceSeconds ?? undefined) : undefined;
}
/** Whether a page of this origin belongs to an active application. */
export const isOriginOfApplication =
  (em: Em) =>
  async (clientId: string, origin: string): Promise<boolean> =>
    isOriginOfRedirect((await findApplication(em, [clientId]))?.redirectUris ?? [], origin);

/** oidc-provider's view of the table `applications`, asked for at every request: a change or a stop is effective at once. */
export const clientStore = (em: Em): Adapter => ({
  async find(clientId) {
    if (clientId.includes('\0')) return undefined;
    refuseFailedDocument(clientId);
    const { ctx } = Provider;
    const known = ctx && foundBefore.get(ctx);
    const application = known?.clientId === clientId ? known : await findApplication(em, [clientId]);
    if (ctx && application) foundBefore.set(ctx, application);
    return application ? toClientMetadata(application, new Date()) : undefined;
  },
  upsert: (clientId, metadata) => registerApplication(em, clientId, metadata),
  ...unused(),
});

function refuseFailedDocument(clientId: string): void {
  const failure = Provider.ctx && isUrlClientId(clientId) ? documentFailure(Provider.ctx) : undefined;
  if (failure !== undefined) throw new errors.InvalidClient(`client ID metadata document: ${failure}`);
}

function toClientMetadata(application: Known, now: Date): AdapterPayload {
  const browser = application.grantTypes.includes('authorization_code');
  const people = browser || application.grantTypes.includes(deviceGrant);
  return {
    client_id: application.clientId,
    client_name: application.name,
    application_type: isNative(application) ? 'native' : 'web',
    token_endpoint_auth_method: application.type === 'public' ? 'none' : 'client_secret_basic',
    ...(application.type === 'confidential' && { client_secret: hashesInUse(application, now).join(' ') }),
    redirect_uris: [...application.redirectUris],
    post_logout_redirect_uris: [...application.postLogoutRedirectUris],
    response_types: browser ? ['code'] : [],
    grant_types: [...application.grantTypes],
    // Never empty: the library takes an empty scope for "all of them". And only what there is: it refuses the whole application otherwise.
    scope: [...(people ? identityScopes : ['openid']), ...apiScopesAmong(application.scopes)].join(' '),
  };
}

/** Native applications may come back at any port of the loopback interface (RFC 8252 section 7.3); our own page, at its own address alone. */
const isNative = ({ clientId, redirectUris }: Known): boolean =>
  clientId !== referencePageClientId && redirectUris.some((uri) => !uri.startsWith('https:'));

const hashesInUse = ({ secretHashes, previousSecretHash, previousSecretUntil }: Known, now: Date): string[] => [
  ...secretHashes,
  ...(previousSecretHash != null && previousSecretUntil != null && new Date(previousSecretUntil) > now ? [previousSecretHash] : []),
];

/** Takes the place of the library's comparison, which would compare with the secret itself. */
export function compareHashedSecrets(provider: Provider): void {
  provider.Client.prototype.compareClientSecret = isOneOfItsSecrets;
}

function isOneOfItsSecrets(this: { clientSecret?: string | undefined }, secret: string): boolean {
  return (this.clientSecret ?? '').split(' ').some((hash) => hashMatches(hash, secret));
}

const refuse = (): never => {
  throw new Error('applications are changed through the API alone');
};

function unused(): Omit<Adapter, 'find' | 'upsert'> {
  return { findByUserCode: refuse, findByUid: refuse, consume: refuse, destroy: refuse, revokeByGrantId: refuse };
}
