import { randomBytes } from 'node:crypto';
import { applicationCreate, scopes, type Scope } from '@mandate/contract';
import { errors, type AdapterPayload, type Configuration } from 'oidc-provider';
import { z } from 'zod';
import { grantTypes, type GrantType } from '../applications/application.entity.ts';
import { newClientSecret } from '../applications/client-secret.ts';
import { applicationFaults, createApplication, type ApplicationInput } from '../applications/create-application.ts';
import type { Em } from '../database/orm.ts';
import { isApiScope, isKnownScope } from './scopes.ts';

type Registration = NonNullable<NonNullable<Configuration['features']>['registration']>;

/** The policy that every initial access token names (server/applications/registration-tokens.ts). */
export const policyName = 'of-the-shop';

/** Grants an application that nobody looked at may use: it cannot act for itself. */
const selfRegistered = grantTypes.filter((name) => name !== 'client_credentials');

/** RFC 7591, for whoever holds an initial access token that an administrator gave out. */
export const registrationPolicy: Registration = {
  enabled: true,
  initialAccessToken: true,
  issueRegistrationAccessToken: false,
  idFactory: () => `app-${randomBytes(9).toString('base64url').replaceAll('-', '0').toLowerCase()}`,
  secretFactory: newClientSecret,
  policies: {
    [policyName]: (_ctx, properties) => {
      // before the library looks at anything
      const asked = askedFor.safeParse(properties);
      if (!asked.success) throw new errors.InvalidClientMetadata('scope must be text, and grant_types a list of texts');
      const known = asked.data.scope.split(' ').filter(isKnownScope);
      const beyond = known.filter((scope) => isApiScope(scope) && scopes[scope].admin);
      if (beyond.length > 0)
        throw new errors.InvalidClientMetadata(`only an administrator registers applications with ${beyond.join(', ')}`);
      if (!asked.data.grant_types.every(isSelfRegistered)) {
        throw new errors.InvalidClientMetadata(`grant_types must be of ${selfRegistered.join(', ')}`);
      }
      properties.client_name ??= properties.client_id;
      // named, or the library would take nothing for everything
      properties.scope = ['openid', ...known.filter((scope) => scope !== 'openid')].join(' ');
    },
  },
};

const askedFor = z.object({ scope: z.string().default(''), grant_types: z.array(z.string()).default([]) });

const isSelfRegistered = (name: string): name is GrantType => selfRegistered.some((allowed) => allowed === name);

/** What the library has checked and is about to answer with, made an application like any other. */
export async function registerApplication(em: Em, clientId: string, metadata: AdapterPayload): Promise<void> {
  const input = {
    clientId,
    name: metadata.client_name ?? clientId,
    type: metadata.token_endpoint_auth_method === 'none' ? ('public' as const) : ('confidential' as const),
    redirectUris: metadata.redirect_uris ?? [],
    postLogoutRedirectUris: metadata.post_logout_redirect_uris ?? [],
    scopes: apiScopesOf(metadata.scope),
    grantTypes: (metadata.grant_types ?? []).filter(isSelfRegistered),
    logoUri: metadata.logo_uri ?? null,
  } satisfies ApplicationInput;
  const name = applicationCreate.shape.name.safeParse(input.name);
  if (!name.success) throw new errors.InvalidClientMetadata('client_name must be one line of up to 100 characters');
  for (const { field, detail } of applicationFaults(input)) {
    if (field === 'redirect_uris') throw new errors.InvalidRedirectUri(detail);
    throw new errors.InvalidClientMetadata(`${field} ${detail}`);
  }
  await createApplication(em.fork(), input, metadata.client_secret);
}

const apiScopesOf = (scope: string | undefined): Scope[] => (scope ?? '').split(' ').filter(isApiScope);
