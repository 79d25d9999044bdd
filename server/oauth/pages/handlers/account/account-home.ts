import { countPendingApprovalsOfUser } from '../../../../approvals/find-approvals.ts';
import { listConnectedAppsByApplication } from '../../../grants/list-connected-apps-by-application.ts';
import { loadSecuritySummary } from './load-security-summary.ts';
import { sendPage } from '../../routing/page-context.ts';
import { accountHomePage } from '../../views/account/account-home-page.ts';
import { isActiveAdministrator, type AccountRequest } from './signed-in-page-guards.ts';

/** How many orders and applications the page shows. The other pages list all of them. */
const shownMax = 3;
const connectedAppsMax = 100;

/** Handles `GET /account`. */
export async function showAccountHome({ context, req, res, account, now }: AccountRequest): Promise<void> {
  const { em, settings } = context;
  const orders = await context.orders.list(em, account.id, { olderThan: undefined, limit: shownMax });
  const applications = await listConnectedAppsByApplication(em, account.id, now, connectedAppsMax);
  const html = accountHomePage(settings, {
    csrf: context.forms.issue(req, res),
    person: { ...account, isAdministrator: await isActiveAdministrator(em, account.id) },
    orders,
    applications: applications.slice(0, shownMax),
    pendingApprovals: await countPendingApprovalsOfUser(em, account.id, now),
    security: await loadSecuritySummary(em, account.id, now),
  });
  sendPage(context, res, html);
}
