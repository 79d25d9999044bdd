import type { OrderSummary } from '@mandate/contract';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { renderApprovalList, type ShownApproval } from './approval-pages.ts';
import { formatDateInUserTimeZone } from '../format-time-and-money.ts';
import { renderLongPolledContent } from '../render-long-polled-content.ts';
import { hiddenField, renderPage, type PageSettings } from '../page-layout-and-form-fields.ts';
import type { ConnectedAppGroup } from '../../../grants/list-connected-apps-by-application.ts';
import { summarizeSpendingLimits } from './connected-apps-page.ts';
import { renderOrderList } from './orders-pages.ts';

/** Summary of an account's sign-in methods and sessions. */
export type SecuritySummary = {
  /** When the password was last changed; undefined if the account has no password. */
  readonly passwordChangedAt: Date | undefined;
  readonly passkeys: number;
  readonly hasAuthenticatorApp: boolean;
  /** Number of unused recovery codes. */
  readonly recoveryCodes: number;
  readonly sessions: number;
};

export type AccountHomeViewModel = {
  readonly csrf: string;
  readonly person: { readonly name: string; readonly email: string; readonly isAdministrator: boolean };
  /** The most recent orders. */
  readonly orders: readonly OrderSummary[];
  /** The newest approvals that are waiting for the user's decision. */
  readonly requests: readonly ShownApproval[];
  /** Number of all approvals that are waiting for the user's decision. */
  readonly requestCount: number;
  /** Path that the page script requests to wait for changes to the orders and approvals. */
  readonly livePath: string;
  /** The most recently used applications. */
  readonly applications: readonly ConnectedAppGroup[];
  readonly security: SecuritySummary;
};

/** Renders the start page of the account: recent orders, applications, security, and links to all other account pages. */
export function accountHomePage(settings: PageSettings, content: AccountHomeViewModel): Html {
  const { accountMenu: menu, account, apps, accountSecurity } = settings.messages;
  const { person } = content;
  return renderPage(
    { ...settings, isWide: true },
    menu.title,
    html`<h1>${menu.title}</h1>
      <p><strong>${person.name}</strong><br />${person.email}</p>
      ${ordersSection(settings, content)}
      <section>
        <h2>${apps.title}</h2>
        ${
          content.applications.length === 0
            ? html`<p class="quiet">${apps.none}</p>`
            : html`${applicationList(settings, content.applications)}
                <p class="elsewhere"><a href="/account/apps">${apps.all}</a></p>`
        }
      </section>
      <section>
        <h2>${accountSecurity.title}</h2>
        ${linkList(securityLinks(settings, content.security))}
      </section>
      <section>
        <h2>${menu.settings}</h2>
        <nav aria-label="${menu.settings}">${linkList(settingsLinks(settings, person.isAdministrator))}</nav>
      </section>
      <form method="post" action="/sign-out">${hiddenField('csrf', content.csrf)}<button class="second">${account.signOut}</button></form>`,
  );
}

/**
 * Renders the approvals that are waiting for a decision, and below them the most recent orders. The page script keeps both up to date.
 */
function ordersSection(settings: PageSettings, { orders, requests, requestCount, livePath }: AccountHomeViewModel): Html {
  const { accountMenu: menu, orders: messages, approvals } = settings.messages;
  const waiting = approvals.waiting({ count: requestCount });
  const content = html`${
      requestCount > 0 &&
      html`<section>
        <h2>${approvals.title}</h2>
        <p>${waiting}</p>
        ${renderApprovalList(settings, requests)}
        <p class="elsewhere"><a href="/account/approvals">${approvals.all}</a></p>
      </section>`
    }
    <section>
      <h2>${messages.title}</h2>
      ${
        orders.length === 0
          ? html`<p class="quiet">${messages.none}</p>`
          : html`${renderOrderList(settings, orders)}
              <p class="elsewhere"><a href="/account/orders">${messages.all}</a></p>`
      }
      ${requestCount === 0 && linkList([{ path: '/account/approvals', text: menu.approvals, details: waiting }])}
    </section>`;
  return renderLongPolledContent(settings, livePath, content);
}

type AccountLink = { readonly path: string; readonly text: string; readonly details?: string };

/** Returns the links below the summaries. Add the link to a new account page here, unless the page belongs to a section. */
function settingsLinks({ messages: { accountMenu: menu, branding } }: PageSettings, isAdministrator: boolean): AccountLink[] {
  return [
    { path: '/account/profile', text: menu.profile },
    { path: '/account/email', text: menu.email },
    { path: '/account/language', text: menu.language },
    { path: '/account/api-keys', text: menu.apiKeys },
    ...(isAdministrator ? [{ path: '/account/branding', text: branding.menu }] : []),
    { path: '/account/close', text: menu.close },
  ];
}

function securityLinks(settings: PageSettings, summary: SecuritySummary): AccountLink[] {
  const { accountMenu: menu, accountSecurity: messages } = settings.messages;
  const { passwordChangedAt, passkeys, hasAuthenticatorApp, recoveryCodes, sessions } = summary;
  const password =
    passwordChangedAt === undefined
      ? messages.noPassword
      : messages.passwordSince({ when: formatDateInUserTimeZone(settings, passwordChangedAt) });
  const secondFactor = hasAuthenticatorApp ? messages.appOn({ codes: recoveryCodes }) : messages.appOff;
  return [
    { path: '/account/password', text: menu.password, details: password },
    { path: '/account/security', text: menu.security, details: `${secondFactor} ${messages.passkeys({ count: passkeys })}` },
    { path: '/account/sessions', text: menu.sessions, details: messages.sessions({ count: sessions }) },
  ];
}

const linkList = (links: readonly AccountLink[]): Html =>
  html`<ul class="menu">
    ${links.map(
      ({ path, text, details }) =>
        html`<li>
          <a href="${path}"><span>${text}${details !== undefined && html`<small>${details}</small>`}</span></a>
        </li>`,
    )}
  </ul>`;

const applicationList = (settings: PageSettings, applications: readonly ConnectedAppGroup[]): Html =>
  linkList(
    applications.map(({ name, lastUsedAt, devices }) => ({
      path: '/account/apps',
      text: name,
      details: [
        settings.messages.apps.used({ when: formatDateInUserTimeZone(settings, lastUsedAt) }),
        ...devices.flatMap(({ limits }) => (limits === undefined ? [] : [summarizeSpendingLimits(settings, limits)])),
      ].join('. '),
    })),
  );
