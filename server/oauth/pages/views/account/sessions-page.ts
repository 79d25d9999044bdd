import { formatIpAddress } from '../../../sessions/ip-address-and-network.ts';
import type { SessionSummary } from '../../../sessions/record-list-and-revoke-browser-sessions.ts';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { formatTimestamp } from '../format-time-and-money.ts';
import { hiddenField, type PageSettings } from '../page-layout-and-form-fields.ts';
import { renderAccountSubpage } from './account-subpage-layout-and-basic-forms.ts';
import { translateDeviceDescription } from './translate-device-description.ts';

export type SessionsPageViewModel = {
  readonly csrf: string;
  /** Identifier of this browser's session. */
  readonly currentUid: string;
  readonly sessions: readonly (SessionSummary & {
    /** Whether the session was last used from the same network as this request. */
    readonly isCurrentNetwork: boolean;
  })[];
};

/** Renders the signed-in browsers, beginning with the current browser. */
export function sessionsPage(settings: PageSettings, { csrf, currentUid, sessions }: SessionsPageViewModel): Html {
  const { sessions: messages } = settings.messages;
  const isCurrent = ({ uid }: SessionsPageViewModel['sessions'][number]): boolean => uid === currentUid;
  const ordered = [...sessions.filter(isCurrent), ...sessions.filter((session) => !isCurrent(session))];
  return renderAccountSubpage(
    { ...settings, isWide: true },
    messages.title,
    html`<ul class="things">
        ${ordered.map((session) => sessionRow(settings, csrf, session, isCurrent(session)))}
      </ul>
      ${ordered.length > 1 && signOutForm(csrf, 'else', { text: messages.everywhereElse, hint: messages.everywhereElseHint })}
      ${signOutForm(csrf, 'yes', { text: messages.everywhere, hint: messages.everywhereHint })}`,
  );
}

/** Renders the button that signs out all other browsers, or all browsers and applications. */
const signOutForm = (csrf: string, everywhere: 'else' | 'yes', { text, hint }: { text: string; hint: string }): Html =>
  html`<section>
    <form method="post">
      ${hiddenField('csrf', csrf)}${hiddenField('everywhere', everywhere)}
      <p class="quiet" id="everywhere-${everywhere}">${hint}</p>
      <button class="${everywhere === 'else' ? 'main' : 'danger second'}" aria-describedby="everywhere-${everywhere}">${text}</button>
    </form>
  </section>`;

function sessionRow(
  settings: PageSettings,
  csrf: string,
  { uid, device, startedAt, lastUsedAt, ip, isCurrentNetwork }: SessionsPageViewModel['sessions'][number],
  isCurrent: boolean,
): Html {
  const { sessions: messages } = settings.messages;
  const name = device === null ? messages.unknown : translateDeviceDescription(settings, device);
  const address = ip && formatIpAddress(ip);
  const wasUsedLater = lastUsedAt.getTime() - startedAt.getTime() >= 60_000;
  return html`<li>
    <div>
      <strong>${name}</strong> ${isCurrent && html`<small><span class="here">${messages.here}</span></small>`}
      ${address !== null && html`<p class="quiet">${!isCurrent && isCurrentNetwork ? messages.sameNetwork({ address }) : messages.address({ address })}</p>`}
      <p class="quiet">${messages.since({ when: formatTimestamp(settings, startedAt) })}</p>
      ${wasUsedLater && html`<p class="quiet">${messages.lastUsed({ when: formatTimestamp(settings, lastUsedAt) })}</p>`}
    </div>
    <form method="post">
      ${hiddenField('csrf', csrf)}${hiddenField('session', uid)}
      <button class="second small" aria-label="${messages.endLabel({ device: name })}">${messages.end}</button>
    </form>
  </li>`;
}
