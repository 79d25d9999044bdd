import { z } from 'zod';
import { listActiveApiKeysOfUser } from '../../../../api-keys/list-active-and-past-api-keys-of-user.ts';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import type { AccountRequest } from './signed-in-page-guards-and-account-page.ts';
import { revokeBrowserSession, listActiveBrowserSessionsOfUser } from '../../../sessions/record-list-and-revoke-browser-sessions.ts';
import { endBrowserSession } from '../../../sessions/load-start-and-end-browser-session.ts';
import { listConnectedAppsOfUser, revokeConnectedAppConsentAndApiKeys } from '../../../grants/connected-apps.ts';
import { listAppsWithAccessToOwnOrdersOnly } from '../../../grants/find-and-change-limits-of-connected-app.ts';
import { revokeGrantsAndSessionsOfUser } from '../../../grants/revoke-grants-and-sessions-of-user.ts';
import { sendPage } from '../../routing/page-context.ts';
import { connectedAppsPage, sessionsPage } from '../../views/account/account-pages.ts';
import { signedOutPage } from '../../views/message-pages.ts';

/** Handles `GET /account/sessions`. */
export async function showSessions({ context, req, res, account, sessionUid, now }: AccountRequest): Promise<void> {
  const browsers = await listActiveBrowserSessionsOfUser(context.em, account.id, now);
  sendPage(context, res, sessionsPage(context.settings, context.forms.issue(req, res), sessionUid, browsers));
}

const sessionsForm = z.object({
  session: z.string().max(100).optional().catch(undefined),
  everywhere: z.literal('yes').optional().catch(undefined),
});

/** Handles `POST /account/sessions`: signs out one browser, or revokes everything. */
export async function submitSessionOrGlobalSignOut(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const { session, everywhere } = sessionsForm.parse(req.body ?? {});
  const record = { actorId: account.id, userId: account.id };
  if (everywhere !== undefined) {
    await context.em.transactional(async (em) => {
      await endBrowserSession(context.provider, req, res);
      await revokeGrantsAndSessionsOfUser(em, account.id);
      await recordAuditEvent(em, getClientAddressAndUserAgent(req), { action: 'sessions.ended', ...record }, now);
    });
    context.onTokenOperation({ name: 'revoked', reason: 'person' });
    return sendPage(context, res, signedOutPage(context.settings));
  }
  await context.em.transactional(async (em) => {
    if (session === undefined || !(await revokeBrowserSession(em, account.id, session))) return;
    await recordAuditEvent(em, getClientAddressAndUserAgent(req), { action: 'session.ended', ...record }, now);
  });
  return res.redirect(303, '/account/sessions');
}

const appsMax = 100;

/** Handles `GET /account/apps`. */
export async function showConnectedApps({ context, req, res, account, now }: AccountRequest): Promise<void> {
  const apps = await listConnectedAppsOfUser(context.em, account.id, now, null, appsMax);
  const apiKeys = await listActiveApiKeysOfUser(context.em, account.id, now);
  const restrictedToOwnOrders = await listAppsWithAccessToOwnOrdersOnly(
    context.em,
    apps.map(({ id }) => id),
  );
  sendPage(context, res, connectedAppsPage(context.settings, context.forms.issue(req, res), { apps, restrictedToOwnOrders, apiKeys }));
}

const appsForm = z.object({
  app: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
  /** IDs of the API keys to keep. */
  keep_keys: z
    .string()
    .regex(/^\d{1,15}(,\d{1,15}){0,99}$/)
    .transform((ids) => ids.split(',').map(Number))
    .catch([]),
});

/** Handles `POST /account/apps`: revokes one application's access. */
export async function submitConnectedAppRemoval(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const form = appsForm.safeParse(req.body ?? {});
  if (form.success) {
    const { app, keep_keys: keepApiKeys } = form.data;
    const options = { source: getClientAddressAndUserAgent(req), by: undefined, keepApiKeys };
    const removed = await context.em.transactional((em) => revokeConnectedAppConsentAndApiKeys(em, account.id, app, options, now));
    if (removed) context.onTokenOperation({ name: 'revoked', reason: 'person' });
  }
  res.redirect(303, '/account/apps');
}
