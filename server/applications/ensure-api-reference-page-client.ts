import { scopeNames } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Application } from './application.entity.ts';

/** Client ID of the API reference at `/docs`, where users can sign in and try operations. The page keeps its tokens only in memory. */
export const apiReferencePageClientId = 'mandate-docs';

/** Path of the redirect URI, relative to the issuer. */
export const apiReferencePageRedirectPath = '/docs/oauth2-redirect.html';

/**
 * Creates or updates the API reference application. The application has every scope, but is still limited by the user's permissions and
 * consent.
 */
export async function ensureApiReferencePageClient(em: EntityManager, issuer: string): Promise<void> {
  await em.fork().upsert(
    Application,
    {
      clientId: apiReferencePageClientId,
      name: 'API reference',
      type: 'public',
      redirectUris: [issuer + apiReferencePageRedirectPath],
      scopes: [...scopeNames],
      grantTypes: ['authorization_code'],
      firstParty: true,
    },
    // `status` is not updated, because an administrator may have disabled the application.
    { onConflictFields: ['clientId'], onConflictMergeFields: ['name', 'redirectUris', 'scopes', 'grantTypes'] },
  );
}
