import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import type { Settings } from '../settings/settings.ts';

/** What every way of signing in needs to know. `waitMs`: how long a person may take. `maxAge`: how old the sign-in may be, in seconds. */
export type SignIn = {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly waitMs: number;
  readonly maxAge?: number | undefined;
};

export type SignInMode = 'browser' | 'loopback' | 'device' | 'token';

type ModeFlags = {
  readonly browser: boolean;
  readonly device?: boolean;
  readonly withToken?: boolean;
  readonly port?: string;
};

/**
 * `loopback` is a browser that somebody else opens, `device` one that may be on another machine. A browser is opened where there
 * is likely to be one that the person sees; where nobody sits at the keyboard, or the keyboard is far away, the code can travel.
 */
export function signInMode(io: Io, { config }: Settings, flags: ModeFlags): SignInMode {
  if (flags.withToken) return 'token';
  if (flags.device) return 'device';
  if (!flags.browser) return 'loopback';
  if (config['login.mode'] === 'device') return 'device';
  if (config['login.mode'] === 'browser' || flags.port !== undefined) return canOpenBrowser(io) ? 'browser' : 'loopback';
  return io.stdinIsTTY && !isElsewhere(io) && canOpenBrowser(io) ? 'browser' : 'device';
}

const isElsewhere = ({ env }: Io): boolean => Boolean(env['SSH_CONNECTION'] ?? env['SSH_TTY'] ?? env['container'] ?? env['CODESPACES']);

/** On Linux without a display there is no browser to open, and trying would only print somebody else's error. */
const canOpenBrowser = ({ platform, env }: Io): boolean =>
  platform !== 'linux' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? env['BROWSER'] ?? env['WSL_DISTRO_NAME']);

/** A signal for the end of a sign-in: after its time, or by Ctrl-C. */
export function endingAfter(io: Io, waitMs: number): { readonly signal: AbortSignal; stop(): void } {
  const ended = new AbortController();
  const interrupt = (): void => ended.abort(new CommandFailure(exitCodes.interrupted, 'aborted', 'Interrupted'));
  const late = new CommandFailure(exitCodes.signInNeeded, 'sign_in_timeout', `Nobody signed in within ${waitMs / 1000} s`, {
    hint: 'Try again with: mandate login',
  });
  const timer = setTimeout(() => ended.abort(late), waitMs);
  io.interrupted.addEventListener('abort', interrupt);
  return {
    signal: ended.signal,
    stop: () => {
      clearTimeout(timer);
      io.interrupted.removeEventListener('abort', interrupt);
    },
  };
}

export const refused = (cause: unknown): CommandFailure =>
  new CommandFailure(exitCodes.signInNeeded, 'access_denied', 'The sign-in was refused in the browser', {
    cause,
    hint: 'Try again with: mandate login',
  });
