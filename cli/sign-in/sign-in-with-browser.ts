import { AuthorizationError } from '@mandate/client-sdk';
import { beginAuthorization, completeAuthorization, type AuthorizationServer, type Tokens } from '@mandate/client-sdk/authorization';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import {
  createSignInTimeoutOrInterruptSignal,
  createSignInDeniedError,
  type SignInOptions,
} from './sign-in-mode-abort-signal-and-denial.ts';

/** Signs in with a browser that is redirected to a loopback port on this machine (RFC 8252 section 7.3). */
export async function signInWithBrowser(
  io: CliEnvironment,
  server: AuthorizationServer,
  { waitMs, ...request }: SignInOptions,
  options: { readonly opens: boolean; readonly port: number | undefined },
): Promise<Tokens> {
  // This module is imported only when it is needed, because loading the HTTP server is slow.
  const { listenOnLoopback } = await import('@mandate/client-sdk/authorization/node');
  const loopback = await listenOnLoopback(options.port).catch((cause: unknown) => {
    throw new CommandError(exitCodes.unexpectedError, 'port_in_use', `Cannot listen on port ${options.port ?? 0} of 127.0.0.1`, {
      cause,
      hint: 'Omit --port to let the system choose a free port',
    });
  });
  const deadline = createSignInTimeoutOrInterruptSignal(io, waitMs);
  try {
    const started = await beginAuthorization(server, { ...request, redirectUri: loopback.redirectUri });
    const tokens = loopback.callback(started.state, (url) => completeAuthorization(server, started, url, deadline.signal), deadline.signal);
    io.stderr.write(
      `${options.opens ? 'Opening this URL in your browser. If the browser does not open, open the URL yourself' : 'Open this URL in a browser on this machine'}:\n${sanitizeForTerminal(started.url)}\n`,
    );
    if (options.opens) io.openBrowser(started.url).catch(() => io.stderr.write('The browser could not be opened. Open the URL above.\n'));
    return await tokens;
  } catch (error) {
    throw error instanceof AuthorizationError && error.error === 'access_denied' ? createSignInDeniedError(error) : error;
  } finally {
    deadline.stop();
    await loopback.close();
  }
}
