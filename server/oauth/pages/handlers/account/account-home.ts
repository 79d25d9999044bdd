import { listConnectedAppsByApplication } from '../../../grants/list-connected-apps-by-application.ts';
import { loadSecuritySummary } from './load-security-summary.ts';
import { sendPage } from '../../routing/page-context.ts';
import { accountHomePage } from '../../views/account/account-home-page.ts';
import { readOrLongPollContent } from './read-or-long-poll-content.ts';
import { createLongPolledOrdersAndApprovalsSource } from './create-long-polled-orders-and-approvals-source.ts';
import { isActiveAdministrator, type AccountRequest } from './signed-in-page-guards.ts';

/** Maximum number of orders, and of applications, that this page shows. Other pages list all orders and applications. */
const shownMax = 3;
const connectedAppsMax = 100;

/** Handles `GET /account`. */
export async function showAccountHome(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const { em, settings } = context;
  const { shown, livePath } = await readOrLongPollContent(
    request,
    '/account',
    createLongPolledOrdersAndApprovalsSource(request, { limit: shownMax }),
  );
  const applications = await listConnectedAppsByApplication(em, account.id, now, connectedAppsMax);
  const html = accountHomePage(settings, {
    csrf: context.forms.issue(req, res),
    person: { ...account, isAdministrator: await isActiveAdministrator(em, account.id) },
    orders: shown.orders.slice(0, shownMax),
    requests: shown.requests,
    requestCount: shown.requestCount,
    livePath,
    applications: applications.slice(0, shownMax),
    security: await loadSecuritySummary(em, account.id, now),
  });
  sendPage(context, res, html, { isLive: true });
}
