import { z } from 'zod';
import { getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import { listActiveAndLatestPastApiKeysOfUser } from '../../../../api-keys/list-active-and-latest-past-api-keys-of-user.ts';
import { revokeApiKeys } from '../../../../api-keys/revoke-api-keys.ts';
import type { AccountRequest } from './signed-in-page-guards.ts';
import { sendPage } from '../../routing/page-context.ts';
import { apiKeysPage } from '../../views/account/api-keys-page.ts';

/** Handles `GET /account/api-keys`. */
export async function showApiKeys({ context, req, res, account, now }: AccountRequest): Promise<void> {
  const keys = await listActiveAndLatestPastApiKeysOfUser(context.em, account.id, now);
  sendPage(context, res, apiKeysPage(context.settings, context.forms.issue(req, res), keys));
}

const revokeForm = z.object({
  key: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
});

/** Handles `POST /account/api-keys`: revokes one key. */
export async function submitApiKeyRevocation(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const form = revokeForm.safeParse(req.body ?? {});
  if (form.success) {
    const cause = { source: getClientAddressAndUserAgent(req), actorId: account.id, reason: 'revoked_by_owner' } as const;
    await context.em.transactional((em) => revokeApiKeys(em, { userId: account.id, id: form.data.key }, cause, now));
  }
  res.redirect(303, '/account/api-keys');
}
