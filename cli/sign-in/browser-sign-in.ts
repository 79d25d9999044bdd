import { AuthorizationError } from '@mandate/client-sdk';
import { beginAuthorization, completeAuthorization, type AuthorizationServer, type Tokens } from '@mandate/client-sdk/authorization';
import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { endingAfter, refused, type SignIn } from './sign-in-methods.ts';

/** Signs in with a browser that comes back to a port of this machine (RFC 8252 section 7.3). */
export async function signInWithBrowser(
  io: Io,
  server: AuthorizationServer,
  { clientId, scopes, waitMs, maxAge }: SignIn,
  how: { readonly opens: boolean; readonly port: number | undefined },
): Promise<Tokens> {
  // A server of HTTP takes its time to load.
  const { listenOnLoopback } = await import('@mandate/client-sdk/authorization/node');
  const loopback = await listenOnLoopback(how.port).catch((cause: unknown) => {
    throw new CommandFailure(exitCodes.unforeseen, 'port_in_use', `Port ${how.port ?? 0} of 127.0.0.1 cannot be used`, {
      cause,
      hint: 'Let the system choose one: leave --port away',
    });
  });
  const time = endingAfter(io, waitMs);
  try {
    const request = await beginAuthorization(server, { clientId, redirectUri: loopback.redirectUri, scopes, maxAge });
    const signedIn = loopback.callback(request.state, (url) => completeAuthorization(server, request, url, time.signal), time.signal);
    io.stderr.write(
      `${how.opens ? 'Your browser opens this address; if it does not, open it yourself' : 'Open this address in a browser on this machine'}:\n${plainText(request.url)}\n`,
    );
    if (how.opens) io.openBrowser(request.url).catch(() => io.stderr.write('No browser opened; use the address above.\n'));
    return await signedIn;
  } catch (error) {
    throw error instanceof AuthorizationError && error.error === 'access_denied' ? refused(error) : error;
  } finally {
    time.stop();
    await loopback.close();
  }
}
