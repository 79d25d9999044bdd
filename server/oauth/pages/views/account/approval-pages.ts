import type { ApprovalStatus } from '@mandate/contract';
import type { ApprovalWithQuote } from '../../../../approvals/approval-from-entity.ts';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { renderAccountSubpage } from './account-pages.ts';
import { formatMoney, formatTimestamp } from '../format-time-and-money.ts';
import { liveRegion } from '../live-region.ts';
import { formField, hiddenField, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';
import { describeApprovalReason, describeQuotedLines } from './describe-approval.ts';

export type ShownApproval = ApprovalWithQuote & { readonly status: ApprovalStatus };

type SettingsForm = {
  readonly currencies: readonly string[];
  readonly currency: string;
  readonly amount: string;
  readonly faults: readonly FieldError[];
  readonly isSaved: boolean;
  /** Whether the user must first sign in with a second factor. */
  readonly needsSignIn: boolean;
  readonly hasSecondFactor: boolean;
};

/** Renders the list of approvals, and the form for the second-factor amount. */
export function approvalsPage(
  settings: PageSettings,
  csrf: string,
  approvals: readonly ShownApproval[],
  livePath: string,
  form: SettingsForm,
): Html {
  const { approvals: messages } = settings.messages;
  const list = approvals.length === 0 ? html`<p>${messages.none}</p>` : approvalList(settings, approvals);
  return renderAccountSubpage(
    { ...settings, isWide: true },
    messages.title,
    html`<p class="quiet">${messages.text}</p>
      ${liveRegion(settings, livePath, list)} ${settingsForm(settings, csrf, form)}`,
    form.faults,
  );
}

/** Renders approvals as a list with links to the pages on which the customer decides. */
export const approvalList = (settings: PageSettings, approvals: readonly ShownApproval[]): Html =>
  html`<ul class="things">
    ${approvals.map((shown) => approvalRow(settings, shown))}
  </ul>`;

function approvalRow(settings: PageSettings, { approval, quote, applicationName: application, status }: ShownApproval): Html {
  const { approvals: messages } = settings.messages;
  const amount = formatMoney(settings, quote.total, quote.currency);
  return html`<li>
    <div>
      <strong>${messages.asks({ application, amount })}</strong>
      <p class="quiet">${messages.status[status]}</p>
      <p class="quiet">${messages.requested({ when: formatTimestamp(settings, approval.createdAt) })}</p>
      <p><a href="/account/approvals/${approval.id}" aria-label="${messages.viewLabel({ application, amount })}">${messages.view}</a></p>
    </div>
  </li>`;
}

function settingsForm(settings: PageSettings, csrf: string, form: SettingsForm): Html {
  const { approvals: messages } = settings.messages;
  const heading = html`<h2>${messages.settingsTitle}</h2>
    <p class="quiet">${messages.settingsText}</p>`;
  if (!form.hasSecondFactor) return html`${heading} ${addSecondFactorLink(settings)}`;
  if (form.needsSignIn) {
    return html`${heading}
      <p class="elsewhere"><a href="/sign-in?next=/account/approvals">${messages.signInToChange}</a></p>`;
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
      ${formField({ name: 'amount', label, value: form.amount, autocomplete: 'off', enterKey: 'done', optional: true }, form.faults)}
      <button type="submit">${messages.save}</button>
    </form>`;
}

const addSecondFactorLink = ({ messages: { accountMenu } }: PageSettings): Html =>
  html`<p class="elsewhere"><a href="/account/security">${accountMenu.security}</a></p>`;

/** What the user must do before approving: sign in again, sign in with a second factor, or add a second factor to the account. */
export type ApprovalObstacle = 'recent sign-in' | 'second factor' | 'no second factor';

type ApprovalPageViewModel = {
  readonly csrf: string;
  readonly shown: ShownApproval;
  readonly livePath: string;
  readonly obstacle: ApprovalObstacle | undefined;
  readonly faults: readonly FieldError[];
};

/** Renders one approval with the buttons to approve or decline it. */
export function approvalPage(settings: PageSettings, { csrf, shown, livePath, obstacle, faults }: ApprovalPageViewModel): Html {
  const { approvals: messages } = settings.messages;
  const { approval, applicationName: application, quote, status } = shown;
  const amount = formatMoney(settings, quote.total, quote.currency);
  const when = formatTimestamp(settings, approval.expiresAt);
  const { recipient_name: name, line1, postal_code: code, city, country } = quote.delivery;
  const address = [name, line1, [code, city].filter(Boolean).join(' '), country]
    .filter((part) => part !== undefined && part !== '')
    .join(', ');
  const content = html`<p><strong>${messages.asks({ application, amount })}</strong></p>
    ${status !== 'pending' && html`<p role="status">${messages.status[status]}</p>`}
    ${approval.order != null && html`<p><a href="/account/orders/${approval.order}">${messages.ordered({ order: String(approval.order) })}</a></p>`}
    <p class="quiet">${messages.requested({ when: formatTimestamp(settings, approval.createdAt) })}</p>
    <h2>${messages.items}</h2>
    <ul class="can">
      ${describeQuotedLines(settings, shown).map((line) => html`<li>${line}</li>`)}
    </ul>
    <p>${messages.deliveredTo({ address })}</p>
    <h2>${messages.why}</h2>
    <p>${describeApprovalReason(settings, shown)}</p>
    ${
      approval.message != null &&
      html`<h2>${messages.message({ application })}</h2>
        <p>${approval.message}</p>`
    }
    ${status === 'pending' && decisionForm(settings, csrf, obstacle, approval.id, messages.once({ when }))}
    ${
      status === 'declined' &&
      html`<p>${messages.disconnectHint}</p>
        <p class="elsewhere"><a href="/account/apps">${messages.disconnect({ application })}</a></p>`
    }`;
  return renderAccountSubpage({ ...settings, isWide: true }, messages.pageTitle, liveRegion(settings, livePath, content), faults, {
    path: '/account/approvals',
    text: messages.title,
  });
}

function decisionForm(settings: PageSettings, csrf: string, obstacle: ApprovalObstacle | undefined, id: number, once: string): Html {
  const { approvals: messages } = settings.messages;
  const approveButton = html`<button name="decision" value="approve">${messages.approve}</button>`;
  const hints: Record<ApprovalObstacle, string> = {
    'recent sign-in': messages.recentSignIn,
    'second factor': messages.secondFactor,
    'no second factor': messages.noSecondFactor,
  };
  const signIn =
    obstacle === 'no second factor'
      ? addSecondFactorLink(settings)
      : html`<p><a class="button" href="/sign-in?next=/account/approvals/${id}">${messages.signInToApprove}</a></p>`;
  return html`<p class="quiet">${once}</p>
    ${
      obstacle &&
      html`<p>${hints[obstacle]}</p>
        ${signIn}`
    }
    <form method="post">
      ${hiddenField('csrf', csrf)} ${obstacle === undefined && approveButton}
      <button class="second" name="decision" value="decline">${messages.decline}</button>
    </form>`;
}
