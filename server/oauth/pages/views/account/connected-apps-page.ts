import type { AccountApiKey } from '../../../../api-keys/list-active-and-latest-past-api-keys-of-user.ts';
import type { EffectiveLimits } from '../../../../order-limits/find-effective-order-limits.ts';
import type { ConnectedAppGroup } from '../../../grants/list-connected-apps-by-application.ts';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { describeOrderableProductCategories } from '../order-limits-form-and-amount-format.ts';
import { formatMoney, formatTimestamp } from '../format-time-and-money.ts';
import { checkboxField, type PageSettings } from '../page-layout-and-form-fields.ts';
import { describeScope } from '../describe-scope.ts';
import { renderAccountSubpage } from './account-subpage-layout-and-basic-forms.ts';
import { confirmedActionForm } from './confirmed-action-form.ts';
import { translateDeviceDescription } from './translate-device-description.ts';

type ConnectedAppsViewModel = {
  readonly applications: readonly ConnectedAppGroup[];
  /** The user's active API keys. */
  readonly apiKeys: readonly AccountApiKey[];
};

type Device = ConnectedAppGroup['devices'][number];

/** Renders the connected applications. An application that the user allowed on several devices appears as one entry. */
export function connectedAppsPage(settings: PageSettings, csrf: string, { applications, apiKeys }: ConnectedAppsViewModel): Html {
  const { apps: messages } = settings.messages;
  return renderAccountSubpage(
    { ...settings, isWide: true },
    messages.title,
    applications.length === 0
      ? html`<p>${messages.none}</p>`
      : html`<ul class="things detailed">
          ${applications.map((application) => {
            const keys = apiKeys.filter(({ createdByClientId }) => createdByClientId === application.clientId);
            return applicationRow(settings, csrf, application, keys);
          })}
        </ul>`,
  );
}

function applicationRow(settings: PageSettings, csrf: string, application: ConnectedAppGroup, keys: readonly AccountApiKey[]): Html {
  const { apps: messages } = settings.messages;
  const { name, devices } = application;
  const [first] = devices;
  const canEverywhere = devices.every(({ scopes }) => scopes.toSorted().join() === first?.scopes.toSorted().join());
  const ids = devices.map(({ id }) => id).join(',');
  const deviceRows = devices.map(
    (device) =>
      html`<li>
        ${devices.length > 1 && html`<p class="device">${deviceName(settings, device)}</p>`} ${deviceDetails(settings, application, device)}
        ${!canEverywhere && permissionList(settings, device)}
        ${devices.length > 1 && removalForm(settings, csrf, { ids: String(device.id), keys, ...deviceRemoval(settings, name, device) })}
      </li>`,
  );
  return html`<li>
    <div>
      <strong>${name}</strong>
      ${canEverywhere && first && permissionList(settings, first)}
      <ul class="devices">
        ${deviceRows}
      </ul>
    </div>
    ${removalForm(settings, csrf, {
      ids,
      keys,
      ...(devices.length > 1
        ? {
            label: messages.removeAllLabel({ application: name }),
            text: messages.removeAll,
            submit: messages.removeAll,
            isForAllDevices: true,
          }
        : { label: messages.removeLabel({ application: name }), text: messages.remove, submit: messages.removeApplication }),
      consequence: messages.removeConsequence({ application: name }),
    })}
  </li>`;
}

const permissionList = (settings: PageSettings, { scopes }: Device): Html =>
  html`<p class="quiet">${settings.messages.apps.may}</p>
    <ul class="can">
      ${scopes.map((scope) => html`<li>${describeScope(settings, scope, scopes)}</li>`)}
    </ul>`;

function deviceDetails(
  settings: PageSettings,
  { name, devices }: ConnectedAppGroup,
  { id, device, scopes, allowedAt, lastUsedAt, limits }: Device,
): Html {
  const { apps: messages, orderLimits } = settings.messages;
  return html`${devices.length === 1 && device !== null && html`<p class="quiet">${messages.on({ device: translateDeviceDescription(settings, device) })}</p>`}
    <p class="quiet">${messages.allowed({ when: formatTimestamp(settings, allowedAt) })}</p>
    <p class="quiet">${messages.used({ when: formatTimestamp(settings, lastUsedAt) })}</p>
    ${limits && summarizeSpendingLimits(settings, limits) !== '' && html`<p>${summarizeSpendingLimits(settings, limits)}</p>`}
    ${limits?.details.products && html`<p>${describeOrderableProductCategories(settings.messages, limits.details.products)}</p>`}
    ${limits?.details.orders === 'own' && html`<p>${orderLimits.ownOrdersText({ application: name })}</p>`}
    ${scopes.some((scope) => scope.startsWith('orders.') || scope.startsWith('payments.')) && limitsLink(settings, id, name)}`;
}

const limitsLink = ({ messages: { orderLimits } }: PageSettings, id: number, applicationName: string): Html =>
  html`<p class="elsewhere">
    <a href="/account/apps/${id}/limits" aria-label="${orderLimits.changeLabel({ application: applicationName })}">${orderLimits.change}</a>
  </p>`;

/**
 * Describes the amounts in an application's limits, such as “€5.00 of €20.00 spent this month”. Returns an empty string if the limits
 * contain no amounts.
 */
export function summarizeSpendingLimits(settings: PageSettings, { details: { limits }, budget }: EffectiveLimits): string {
  const { apps: messages } = settings.messages;
  if (!limits) return '';
  const money = (amount: number): string => formatMoney(settings, amount, limits.currency);
  return [
    ...(limits.per_order === undefined ? [] : [messages.limitPerOrder({ amount: money(limits.per_order) })]),
    ...(budget ? [messages.limitPerPeriod({ spent: money(budget.spent), amount: money(budget.limit), period: budget.period })] : []),
  ].join('. ');
}

type Removal = {
  /** IDs of the connected apps to remove, separated by commas. */
  readonly ids: string;
  readonly keys: readonly AccountApiKey[];
  readonly label: string;
  readonly text: string;
  readonly consequence: string;
  readonly submit: string;
  /** Whether the form follows the entry of the last device. */
  readonly isForAllDevices?: boolean;
};

function deviceRemoval(settings: PageSettings, application: string, device: Device): Omit<Removal, 'ids' | 'keys'> {
  const { apps: messages } = settings.messages;
  const names = { application, device: deviceName(settings, device) };
  return {
    label: messages.removeDeviceLabel(names),
    text: messages.remove,
    consequence: messages.removeDeviceConsequence(names),
    submit: messages.remove,
  };
}

const deviceName = (settings: PageSettings, { device }: Device): string =>
  device === null ? settings.messages.sessions.unknown : translateDeviceDescription(settings, device);

const removalForm = (settings: PageSettings, csrf: string, { ids, keys, ...texts }: Removal): Html =>
  confirmedActionForm(settings, { csrf, field: { name: 'app', value: ids }, fields: keepKeysCheckbox(settings, keys), ...texts });

/**
 * Renders the checkbox for keeping the API keys that an application created. The checkbox value lists the key IDs, so that keys created
 * later are not kept.
 */
function keepKeysCheckbox({ messages: { apps, credential } }: PageSettings, keys: readonly AccountApiKey[]): Html | undefined {
  if (keys.length === 0) return undefined;
  return checkboxField({
    name: 'keep_keys',
    value: keys.map(({ id }) => id).join(','),
    label: apps.keepKeys({ count: keys.length }),
    details: [...keys.map(({ name, prefix }) => credential.apiKey({ name, prefix })), apps.revokesKeys],
  });
}
