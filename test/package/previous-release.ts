import { join } from 'node:path';
import { testServerSecret } from '../support/server/test-server-secret.ts';

/**
 * A backup from the release before the current one, made with `mandate-server backup` by the server of commit 6607cb5e. The backup contains
 * the demonstration shop, an administrator and two orders. After a release, replace the backup with one from the released server.
 */
export const previousReleaseBackup = {
  file: join(import.meta.dirname, 'previous-release.backup'),
  secret: testServerSecret,
  administrator: { email: 'admin@example.com', password: 'correct horse battery staple' },
  /** Newest first, as in lists. */
  orders: [
    { id: 2, user_id: 2, total: 1590, currency: 'GBP' },
    { id: 1, user_id: 2, total: 425, currency: 'GBP', payment_status: 'paid' },
  ],
};
