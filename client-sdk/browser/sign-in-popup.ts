import { AuthorizationError } from '../core/authorization-errors.ts';
import { AbortError } from '../core/errors.ts';
import { createPromiseWithResolvers } from '../core/promise-with-resolvers.ts';

/** Opens the sign-in window. Call this function in a click handler before any `await`; otherwise, the browser may block the popup. */
export function openEmptySignInPopup(): Window {
  const popup = window.open('', '', 'popup,width=480,height=720');
  if (!popup) throw new AuthorizationError('popup_blocked', 'The browser blocked the sign-in window');
  return popup;
}

const channelOf = (state: string): BroadcastChannel => new BroadcastChannel(`mandate sign-in ${state}`);

/**
 * Waits for the URL to which `popup` is redirected. The URL is received over a broadcast channel, because a sign-in page with
 * Cross-Origin-Opener-Policy separates the popup from its opener. `closed` is `true` for a separated popup even while the popup is open, so
 * `closed` is checked only while this page has the focus.
 */
export async function waitForPopupCallbackUrl(popup: Window, state: string, signal: AbortSignal | undefined): Promise<string> {
  const { promise, resolve, reject } = createPromiseWithResolvers<string>();
  const channel = channelOf(state);
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (typeof data !== 'string' || data === received) return;
    channel.postMessage(received);
    resolve(data);
  });
  const end = (): void => reject(new AbortError('Call aborted', { cause: signal?.reason }));
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  let closedChecks = 0;
  const watch = setInterval(() => {
    closedChecks = popup.closed && document.hasFocus() ? closedChecks + 1 : 0;
    if (closedChecks > 2) reject(new AuthorizationError('popup_closed', 'The sign-in window was closed'));
  }, 500);
  try {
    return await promise;
  } finally {
    clearInterval(watch);
    signal?.removeEventListener('abort', end);
    channel.close();
    popup.close();
  }
}

const received = 'taken';
const handOverTimeoutMs = 1_000;

/** Sends the popup's URL to the page that opened the popup. Returns whether that page has received the URL. */
export async function sendCallbackUrlToOpener(state: string, url: string): Promise<boolean> {
  const channel = channelOf(state);
  const { promise, resolve } = createPromiseWithResolvers<boolean>();
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => data === received && resolve(true));
  const timer = setTimeout(() => resolve(false), handOverTimeoutMs);
  channel.postMessage(url);
  const isReceived = await promise;
  clearTimeout(timer);
  channel.close();
  return isReceived;
}
