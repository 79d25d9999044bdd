import type { ApprovalStatus } from '@mandate/contract';
import type { ApprovalWithQuote } from '../../../../approvals/approval-from-entity.ts';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { renderAccountSubpage } from './account-subpage-layout-and-basic-forms.ts';
import { formatMoney, formatTimestamp } from '../format-time-and-money.ts';
import { renderLongPolledContent } from '../render-long-polled-content.ts';
import { formField, hiddenField, linkButton, renderPage, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';
import { statusBadge } from '../status-badge.ts';
import { describeApprovalReason } from './describe-approval.ts';
import { orderDeliveryAddressAndNoteSection, orderLinesTable, type OrderAmounts } from './order-lines-and-address.ts';

export type ShownApproval = ApprovalWithQuote & { readonly status: ApprovalStatus };

type SettingsForm = {
  readonly currencies: readonly string[];
  readonly currency: string;
  readonly amount: string;
  readonly faults: readonly FieldError[];
  readonly isSaved: boolean;
  /** Whether the user must sign in with a second factor before changing the amount. */
  readonly needsSignIn: boolean;
  readonly hasSecondFactor: boolean;
};

/** Renders the list of approvals, and the form for the amount above which approvals require a second factor. */
export function approvalsPage(
  settings: PageSettings,
  csrf: string,
  approvals: readonly ShownApproval[],
  livePath: string,
  form: SettingsForm,
): Html {
  const { approvals: messages } = settings.messages;
  const list = approvals.length === 0 ? html`<p>${messages.none}</p>` : renderApprovalList(settings, approvals);
  return renderAccountSubpage(
    { ...settings, isWide: true },
    messages.title,
    html`<p class="quiet">${messages.text}</p>
      ${renderLongPolledContent(settings, livePath, list)}
      <section>${settingsForm(settings, csrf, form)}</section>`,
    form.faults,
  );
}

/** Renders approvals as a list of links to the pages on which the customer decides. */
export const renderApprovalList = (settings: PageSettings, approvals: readonly ShownApproval[]): Html =>
  html`<ul class="menu">
    ${approvals.map((shown) => approvalRow(settings, shown))}
  </ul>`;

function approvalRow(settings: PageSettings, { approval, quote, applicationName: application, status }: ShownApproval): Html {
  const { approvals: messages } = settings.messages;
  const amount = formatMoney(settings, quote.total, quote.currency);
  return html`<li>
    <a href="/account/approvals/${approval.id}">
      <span>
        ${describeRequest(settings, status, { application, amount })}
        <small>${status === 'pending' ? statusBadge(messages.status.pending, 'waiting') : messages.status[status]}</small>
        <small>${messages.requested({ when: formatTimestamp(settings, approval.createdAt) })}</small>
      </span>
    </a>
  </li>`;
}

/** Returns which order the application wants to place or, if the request is no longer pending, asked to place. */
const describeRequest = (
  { messages: { approvals } }: PageSettings,
  status: ApprovalStatus,
  request: { readonly application: string; readonly amount: string },
): string => (status === 'pending' ? approvals.asks(request) : approvals.asked(request));

function settingsForm(settings: PageSettings, csrf: string, form: SettingsForm): Html {
  const { approvals: messages } = settings.messages;
  const heading = html`<h2>${messages.settingsTitle}</h2>
    <p class="quiet">${messages.settingsText}</p>`;
  if (!form.hasSecondFactor) return html`${heading} ${addSecondFactorLink(settings)}`;
  if (form.needsSignIn) {
    return html`${heading} ${linkButton('/sign-in?next=/account/approvals', messages.signInToChange, 'second')}`;
  }
  const { currencies, currency } = form;
  const label = messages.amount({ currency: currencies.length === 1 ? currency : 'none' });
  return html`${heading} ${form.isSaved && html`<p role="status">${messages.saved}</p>`}
    <form method="post">
      ${hiddenField('csrf', csrf)}
      ${
        currencies.length === 1
          ? hiddenField('currency', currency)
          : html`<div class="field">
              <label for="currency">${messages.currency}</label>
              <select id="currency" name="currency">
                ${currencies.map((code) => html`<option value="${code}" ${code === currency && html`selected`}>${code}</option>`)}
              </select>
            </div>`
      }
      ${formField({ name: 'amount', label, value: form.amount, autocomplete: 'off', hint: messages.amountHint, enterKey: 'done', optional: true }, form.faults)}
      <button type="submit">${messages.save}</button>
    </form>`;
}

const addSecondFactorLink = ({ messages: { accountMenu } }: PageSettings): Html =>
  linkButton('/account/security', accountMenu.security, 'second');

/** Reason why the user cannot approve yet: an old sign-in, a sign-in without a second factor, or an account without a second factor. */
export type ApprovalObstacle = 'recent sign-in' | 'second factor' | 'no second factor';

type ApprovalPageViewModel = {
  readonly csrf: string;
  readonly shown: ShownApproval;
  readonly livePath: string;
  readonly obstacle: ApprovalObstacle | undefined;
  readonly faults: readonly FieldError[];
};

/** Renders one approval, either with the buttons to approve or decline it, or with the decision and the next step. */
export function approvalPage(settings: PageSettings, { csrf, shown, livePath, obstacle, faults }: ApprovalPageViewModel): Html {
  const { approvals: messages } = settings.messages;
  const { approval, applicationName: application, quote, status } = shown;
  const amount = formatMoney(settings, quote.total, quote.currency);
  const title = status === 'pending' ? messages.pageTitle : messages.decided[status];
  const content = html`<h1>${title}</h1>
    ${status !== 'pending' && outcome(settings, shown)}
    <p class="price">${amount}</p>
    <p>${describeRequest(settings, status, { application, amount })}</p>
    <p class="quiet">${messages.requested({ when: formatTimestamp(settings, approval.createdAt) })}</p>
    ${
      approval.message != null &&
      html`<figure class="quotation">
        <figcaption>${messages.message({ application })}</figcaption>
        <blockquote>${approval.message}</blockquote>
      </figure>`
    }
    <section>
      <h2>${messages.items}</h2>
      ${orderLinesTable(settings, quoteAmounts(shown))}
    </section>
    ${orderDeliveryAddressAndNoteSection(settings, { delivery: quote.delivery, note: quote.note ?? null })}
    <section>
      <h2>${status === 'pending' ? messages.why : messages.whyDecided}</h2>
      <p>${describeApprovalReason(settings, shown)}</p>
      ${status === 'pending' && decisionForm(settings, csrf, obstacle, approval)}
    </section>
    ${
      status === 'declined' &&
      html`<section>
        <p>${messages.disconnectHint}</p>
        ${linkButton('/account/apps', messages.disconnect({ application }), 'second')}
      </section>`
    }`;
  return renderPage(
    { ...settings, isWide: true },
    title,
    renderLongPolledContent(settings, livePath, content),
    faults,
    html`<p class="elsewhere back"><a href="/account/approvals">${messages.title}</a></p>`,
  );
}

const quoteAmounts = ({ quote }: ShownApproval): OrderAmounts => ({
  currency: quote.currency,
  lines: quote.items,
  subtotal: quote.subtotal,
  discount: quote.discountTotal,
  shipping: quote.shippingTotal,
  tax: quote.taxTotal,
  taxMode: quote.taxMode,
  total: quote.total,
  refunded: 0,
});

/** Describes the outcome of a request that is no longer pending, and the next step. */
function outcome(settings: PageSettings, { approval, applicationName: application, status }: ShownApproval): Html {
  const { approvals: messages } = settings.messages;
  const when = formatTimestamp(settings, approval.expiresAt);
  return html`<p role="status">${messages.status[status]} ${status === 'approved' && messages.next({ application, when })}</p>
    ${approval.order != null && linkButton(`/account/orders/${approval.order}`, messages.ordered({ order: String(approval.order) }))}`;
}

function decisionForm(
  settings: PageSettings,
  csrf: string,
  obstacle: ApprovalObstacle | undefined,
  { id, expiresAt }: ShownApproval['approval'],
): Html {
  const { approvals: messages } = settings.messages;
  const hints: Record<ApprovalObstacle, string> = {
    'recent sign-in': messages.recentSignIn,
    'second factor': messages.secondFactor,
    'no second factor': messages.noSecondFactor,
  };
  const signIn =
    obstacle === 'no second factor'
      ? linkButton('/account/security', settings.messages.accountMenu.security)
      : linkButton(`/sign-in?next=/account/approvals/${id}`, messages.signInToApprove);
  return html`<p class="quiet">${messages.once({ when: formatTimestamp(settings, expiresAt) })}</p>
    ${
      obstacle &&
      html`<p>${hints[obstacle]}</p>
        ${signIn}`
    }
    <form method="post">
      ${hiddenField('csrf', csrf)}
      <div class="choice">
        <button class="second" name="decision" value="decline">${messages.decline}</button>
        ${obstacle === undefined && html`<button name="decision" value="approve">${messages.approve}</button>`}
      </div>
    </form>`;
}
