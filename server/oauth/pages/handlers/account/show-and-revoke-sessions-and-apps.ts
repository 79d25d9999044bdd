import { z } from 'zod';
import { listActiveApiKeysOfUser } from '../../../../api-keys/list-active-and-latest-past-api-keys-of-user.ts';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import type { AccountRequest } from './signed-in-page-guards.ts';
import {
  revokeBrowserSession,
  revokeOtherBrowserSessions,
  listActiveBrowserSessionsOfUser,
} from '../../../sessions/record-list-and-revoke-browser-sessions.ts';
import { endBrowserSessionAndNotifyApplications } from '../../../sessions/load-start-and-end-browser-session.ts';
import { getNetworkOfIpAddress } from '../../../sessions/ip-address-and-network.ts';
import { listConnectedAppsByApplication } from '../../../grants/list-connected-apps-by-application.ts';
import { revokeGrantConsentAndApiKeys } from '../../../grants/store-list-and-revoke-connected-apps.ts';
import { revokeGrantsAndSessionsOfUser } from '../../../grants/revoke-grants-and-sessions-of-user.ts';
import { sendPage } from '../../routing/page-context.ts';
import { connectedAppsPage } from '../../views/account/connected-apps-page.ts';
import { sessionsPage } from '../../views/account/sessions-page.ts';
import { signedOutPage } from '../../views/message-pages.ts';

/** Handles `GET /account/sessions`. */
export async function showSessions({ context, req, res, account, sessionUid, now }: AccountRequest): Promise<void> {
  const browsers = await listActiveBrowserSessionsOfUser(context.em, account.id, now);
  const currentNetwork = getNetworkOfIpAddress(req.ip);
  const isCurrentNetwork = (ip: string | null): boolean => currentNetwork !== undefined && getNetworkOfIpAddress(ip) === currentNetwork;
  const sessions = browsers.map((session) => ({ ...session, isCurrentNetwork: isCurrentNetwork(session.ip) }));
  const csrf = context.forms.issue(req, res);
  sendPage(context, res, sessionsPage(context.settings, { csrf, currentUid: sessionUid, sessions }));
}

const sessionsForm = z.object({
  session: z.string().max(100).optional().catch(undefined),
  everywhere: z.enum(['yes', 'else']).optional().catch(undefined),
});

/** Handles `POST /account/sessions`: signs out one browser, all other browsers, or all browsers and applications. */
export async function submitSessionOrGlobalSignOut(request: AccountRequest): Promise<void> {
  const { context, req, res, account, sessionUid, now } = request;
  const { session, everywhere } = sessionsForm.parse(req.body ?? {});
  const record = { actorId: account.id, userId: account.id };
  if (everywhere === 'yes') {
    await context.em.transactional(async (em) => {
      await endBrowserSessionAndNotifyApplications(context, req, res);
      await revokeGrantsAndSessionsOfUser(em, account.id);
      await recordAuditEvent(em, getClientAddressAndUserAgent(req), { action: 'sessions.ended', ...record }, now);
    });
    context.onTokenOperation({ name: 'revoked', reason: 'person' });
    return sendPage(context, res, signedOutPage(context.settings));
  }
  await context.em.transactional(async (em) => {
    const isRevoked =
      everywhere === 'else'
        ? await revokeOtherBrowserSessions(em, account.id, sessionUid)
        : session !== undefined && (await revokeBrowserSession(em, account.id, session));
    if (!isRevoked) return;
    await recordAuditEvent(em, getClientAddressAndUserAgent(req), { action: 'session.ended', ...record }, now);
  });
  return res.redirect(303, '/account/sessions');
}

const appsMax = 100;

/** Handles `GET /account/apps`. */
export async function showConnectedApps({ context, req, res, account, now }: AccountRequest): Promise<void> {
  const applications = await listConnectedAppsByApplication(context.em, account.id, now, appsMax);
  const apiKeys = await listActiveApiKeysOfUser(context.em, account.id, now);
  sendPage(context, res, connectedAppsPage(context.settings, context.forms.issue(req, res), { applications, apiKeys }));
}

const idList = z
  .string()
  .regex(/^\d{1,15}(,\d{1,15}){0,99}$/)
  .transform((ids) => ids.split(',').map(Number));

const appsForm = z.object({
  /** IDs of the connected apps to remove. An application that is used on several devices has one ID for each device. */
  app: idList,
  /** IDs of the API keys to keep. */
  keep_keys: idList.catch([]),
});

/** Handles `POST /account/apps`: revokes an application's access on one device or on several devices. */
export async function submitConnectedAppRemoval(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const form = appsForm.safeParse(req.body ?? {});
  if (form.success) {
    const { app: ids, keep_keys: keepApiKeys } = form.data;
    const options = { source: getClientAddressAndUserAgent(req), by: undefined, keepApiKeys };
    const removed = await context.em.transactional(async (em) => {
      let count = 0;
      for (const id of ids.toSorted((one, other) => one - other))
        if (await revokeGrantConsentAndApiKeys(em, account.id, id, options, now)) count += 1;
      return count;
    });
    if (removed > 0) context.onTokenOperation({ name: 'revoked', reason: 'person' });
  }
  res.redirect(303, '/account/apps');
}
