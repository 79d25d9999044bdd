import { scopeNames } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { Application, deviceGrantType } from './application.entity.ts';

/** Client ID of the `mandate` command, a public native application. It uses PKCE and listens on a port of its choice. */
export const commandLineClientId = 'mandate-cli';

/** Creates or updates the application of the command line. It has every scope; the permissions of the user still limit it. */
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
      grantTypes: ['authorization_code', 'refresh_token', deviceGrantType],
      firstParty: true,
    },
    // `status` is not updated, because an administrator may have disabled the application.
    { onConflictFields: ['clientId'], onConflictMergeFields: ['name', 'redirectUris', 'scopes', 'grantTypes'] },
  );
}
