import { scopeNames } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { Application } from './application.entity.ts';

/** The API reference at `/docs`, which signs people in to try things out. Its tokens stay in the memory of the page. */
export const referencePageClientId = 'mandate-docs';

/** Where the authorization server sends people back to, below the issuer. */
export const referencePageReturn = '/docs/oauth2-redirect.html';

/** Every installation has it, with every scope there is; what a person may do, and agrees to, still limits it. */
export async function keepReferencePageApplication(em: Em, issuer: string): Promise<void> {
  await em.fork().upsert(
    Application,
    {
      clientId: referencePageClientId,
      name: 'API reference',
      type: 'public',
      redirectUris: [issuer + referencePageReturn],
      scopes: [...scopeNames],
      grantTypes: ['authorization_code'],
      firstParty: true,
    },
    // `status` is not among them: an administrator may have stopped it
    { onConflictFields: ['clientId'], onConflictMergeFields: ['name', 'redirectUris', 'scopes', 'grantTypes'] },
  );
}
