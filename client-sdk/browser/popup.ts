import { AbortError, AuthorizationError } from '../core/errors.ts';

/** Call it in the handler of the click, before anything that is waited for: browsers open no window later. */
export function openPopup(): Window {
  const popup = window.open('', '', 'popup,width=480,height=720');
  if (!popup) throw new AuthorizationError('popup_blocked', 'The browser opened no window for the sign-in');
  return popup;
}

const channelOf = (state: string): BroadcastChannel => new BroadcastChannel(`mandate sign-in ${state}`);

/**
 * The address that `popup` came back to. By a channel of this origin, because the window of a page that isolates itself
 * (Cross-Origin-Opener-Policy) is cut off from the one that opened it; its `closed` then says nothing until the person is back here.
 */
export async function popupCallback(popup: Window, state: string, signal: AbortSignal | undefined): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const channel = channelOf(state);
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (typeof data !== 'string' || data === taken) return;
    channel.postMessage(taken);
    resolve(data);
  });
  const end = (): void => reject(new AbortError('The call was aborted', { cause: signal?.reason }));
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  let gone = 0;
  const watch = setInterval(() => {
    gone = popup.closed && document.hasFocus() ? gone + 1 : 0;
    if (gone > 2) reject(new AuthorizationError('popup_closed', 'The window of the sign-in was closed'));
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

const taken = 'taken';
const answerWithinMs = 1_000;

/** In the popup: hands its address over to the page that opened it, and says whether there is one. */
export async function handOver(state: string, url: string): Promise<boolean> {
  const channel = channelOf(state);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => data === taken && resolve(true));
  const timer = setTimeout(() => resolve(false), answerWithinMs);
  channel.postMessage(url);
  const handed = await promise;
  clearTimeout(timer);
  channel.close();
  return handed;
}
