import { administratorOnlyScopes, scopeDefinitions, scopeNames, type Scope } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Application } from './application.entity.ts';

/** Client ID of the console at `/console`, a public application. */
export const consoleClientId = 'mandate-console';

/** Path of the console, and of its redirect URI, relative to the issuer. */
export const consolePath = '/console';

/** Scopes for the signed-in user's own data. The other scopes of the console are administrative. */
const ownScopes = [
  'users.read',
  'users.write',
  'approvals.decide',
  'tasks.read',
  'tasks.write',
  'events.read',
  'webhooks.read',
  'webhooks.write',
  'connected_apps.read',
  'connected_apps.write',
  'api_keys.manage',
] as const satisfies readonly Scope[];

/** All scopes of the console's application. The console places no orders and makes no payments for the signed-in user. */
const applicationScopes = scopeNames.filter((name) => scopeDefinitions[name].admin || ownScopes.some((own) => own === name));

/** Scopes that the console requests at sign-in, that is, all scopes except those that always require the user's consent. */
export const consoleScopes: readonly Scope[] = applicationScopes.filter((name) => !administratorOnlyScopes.has(name));

/**
 * Creates or updates the console's application. Staff use the console for their work, so they are not asked for consent to the scopes that
 * the console requests. Each token is still limited to the user's role. An administrator can withdraw the preapproval.
 */
export async function ensureConsoleClient(em: EntityManager, issuer: string): Promise<void> {
  await em.fork().upsert(
    Application,
    {
      clientId: consoleClientId,
      name: 'Console',
      type: 'public',
      redirectUris: [issuer + consolePath],
      scopes: applicationScopes,
      preapprovedScopes: ['openid', 'offline_access', ...consoleScopes],
      grantTypes: ['authorization_code', 'refresh_token'],
      firstParty: true,
    },
    // `status` and `preapprovedScopes` are not updated, because an administrator may have changed them.
    { onConflictFields: ['clientId'], onConflictMergeFields: ['name', 'redirectUris', 'scopes', 'grantTypes'] },
  );
}
