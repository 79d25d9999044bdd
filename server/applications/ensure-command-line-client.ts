import { scopeNames } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Application, deviceCodeGrantType } from './application.entity.ts';

/** Client ID of the `mandate` command, a public native application. The command uses PKCE and listens on a port of its choice. */
export const commandLineClientId = 'mandate-cli';

/** Creates or updates the command line application. The application has every scope, but is still limited by the user's permissions. */
export async function ensureCommandLineClient(em: EntityManager): Promise<void> {
  const fork = em.fork();
  await fork.upsert(
    Application,
    {
      clientId: commandLineClientId,
      name: 'Mandate command line',
      type: 'public',
      redirectUris: ['http://127.0.0.1/callback'],
      scopes: [...scopeNames],
      grantTypes: ['authorization_code', 'refresh_token', deviceCodeGrantType],
      firstParty: true,
    },
    // `status` is not updated, because an administrator may have disabled the application.
    { onConflictFields: ['clientId'], onConflictMergeFields: ['name', 'redirectUris', 'scopes', 'grantTypes'] },
  );
}
