import { scopeNames } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { Application, deviceGrant } from './application.entity.ts';

/** The `mandate` command. A public native application: it proves itself by PKCE and listens on a port of its own choice. */
export const commandLineClientId = 'mandate-cli';

/** Every installation has it, with every scope there is; what a person may do still limits it. */
export async function keepCommandLineApplication(em: Em): Promise<void> {
  const fork = em.fork();
  await fork.upsert(
    Application,
    {
      clientId: commandLineClientId,
      name: 'Mandate command line',
      type: 'public',
      redirectUris: ['http://127.0.0.1/callback'],
      scopes: [...scopeNames],
      grantTypes: ['authorization_code', 'refresh_token', deviceGrant],
      firstParty: true,
    },
    // `status` is not among them: an administrator may have stopped it
    { onConflictFields: ['clientId'], onConflictMergeFields: ['name', 'redirectUris', 'scopes', 'grantTypes'] },
  );
}
