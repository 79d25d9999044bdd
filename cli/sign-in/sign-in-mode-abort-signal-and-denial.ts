import type { OrderAuthorizationRequest } from '@mandate/client-sdk/authorization';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import type { Settings } from '../settings/resolve-settings.ts';

/** Options that every sign-in method accepts. `waitMs` is the time limit for the user; `maxAge` is the maximum sign-in age, in seconds. */
export type SignInOptions = {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly waitMs: number;
  readonly maxAge?: number | undefined;
  /** Order limits to request (RFC 9396). */
  readonly authorizationDetails?: readonly [OrderAuthorizationRequest] | undefined;
};

export type SignInMode = 'browser' | 'loopback' | 'device' | 'token';

type ModeFlags = {
  readonly browser: boolean;
  readonly device?: boolean;
  readonly withToken?: boolean;
  readonly port?: string;
};

/**
 * Chooses the sign-in method. `browser` opens the sign-in URL in a browser on this machine, `loopback` only prints the URL, and `device`
 * uses a code that works in a browser on any machine. Without explicit flags or settings, a browser is opened only if the user is likely to
 * see it: on a local terminal with a display.
 */
export function chooseSignInMode(io: CliEnvironment, { config }: Settings, flags: ModeFlags): SignInMode {
  if (flags.withToken) return 'token';
  if (flags.device) return 'device';
  if (!flags.browser) return 'loopback';
  if (config['login.mode'] === 'device') return 'device';
  if (config['login.mode'] === 'browser' || flags.port !== undefined) return canOpenBrowser(io) ? 'browser' : 'loopback';
  return io.stdinIsTTY && !isRemoteShell(io) && canOpenBrowser(io) ? 'browser' : 'device';
}

const isRemoteShell = ({ env }: CliEnvironment): boolean =>
  Boolean(env['SSH_CONNECTION'] ?? env['SSH_TTY'] ?? env['container'] ?? env['CODESPACES']);

/**
 * Returns whether a browser can be opened. On Linux, a browser requires a display; without a display, the opener would only print errors.
 */
const canOpenBrowser = ({ platform, env }: CliEnvironment): boolean =>
  platform !== 'linux' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? env['BROWSER'] ?? env['WSL_DISTRO_NAME']);

/** Creates a signal that aborts the sign-in after `waitMs` or on Ctrl-C. */
export function createSignInTimeoutOrInterruptSignal(io: CliEnvironment, waitMs: number): { readonly signal: AbortSignal; stop(): void } {
  const deadline = new AbortController();
  const interrupt = (): void => deadline.abort(new CommandError(exitCodes.interrupted, 'aborted', 'Interrupted'));
  const timeout = new CommandError(exitCodes.signInRequired, 'sign_in_timeout', `The sign-in was not completed within ${waitMs / 1000} s`, {
    hint: 'Retry with: mandate login',
  });
  const timer = setTimeout(() => deadline.abort(timeout), waitMs);
  io.interrupted.addEventListener('abort', interrupt);
  return {
    signal: deadline.signal,
    stop: () => {
      clearTimeout(timer);
      io.interrupted.removeEventListener('abort', interrupt);
    },
  };
}

/** Returns the error for a sign-in that the user denied. */
export const createSignInDeniedError = (cause: unknown): CommandError =>
  new CommandError(exitCodes.signInRequired, 'access_denied', 'The sign-in was denied in the browser', {
    cause,
    hint: 'Retry with: mandate login',
  });
