import { AuthorizationError } from '@mandate/client-sdk';
import {
  beginDeviceAuthorization,
  completeDeviceAuthorization,
  type AuthorizationServer,
  type DeviceAuthorization,
  type Tokens,
} from '@mandate/client-sdk/authorization';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal, serializeJsonForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import type { Settings } from '../settings/resolve-settings.ts';
import {
  createSignInTimeoutOrInterruptSignal,
  createSignInDeniedError,
  type SignInOptions,
} from './sign-in-mode-abort-signal-and-denial.ts';

/** Signs in with a code that the user enters in a browser on any machine (RFC 8628). */
export async function signInWithDeviceCode(
  io: CliEnvironment,
  settings: Settings,
  server: AuthorizationServer,
  { waitMs, ...request }: SignInOptions,
): Promise<Tokens> {
  const deadline = createSignInTimeoutOrInterruptSignal(io, waitMs);
  try {
    const device = await beginDeviceAuthorization(server, request, deadline.signal);
    printInstructions(io, settings, device, server.issuer);
    return await completeDeviceAuthorization(server, device, deadline.signal);
  } catch (error) {
    if (deadline.signal.aborted) throw deadline.signal.reason;
    if (!(error instanceof AuthorizationError)) throw error;
    if (error.error === 'access_denied') throw createSignInDeniedError(error);
    if (error.error !== 'expired_token') throw error;
    throw new CommandError(exitCodes.signInRequired, 'sign_in_timeout', 'The code was not entered in time', {
      cause: error,
      hint: 'Retry with: mandate login --device',
    });
  } finally {
    deadline.stop();
  }
}

function printInstructions(io: CliEnvironment, settings: Settings, device: DeviceAuthorization, issuer: string): void {
  const { userCode, verificationUri, expiresAt } = device;
  const urlWithCode = trustedUrl(device, issuer);
  if (settings.format !== 'text') {
    const expiresIn = Math.round((expiresAt - Date.now()) / 1000);
    const output = {
      verification_uri: verificationUri,
      verification_uri_complete: urlWithCode ?? null,
      user_code: userCode,
      expires_in: expiresIn,
    };
    return io.stdout.write(`${serializeJsonForTerminal(output)}\n`);
  }
  const lines = [
    'Open this URL in a browser on any machine:',
    sanitizeForTerminal(verificationUri),
    `and enter this code: ${sanitizeForTerminal(userCode)}`,
    ...(urlWithCode === undefined ? [] : ['Or open this URL, which contains the code:', sanitizeForTerminal(urlWithCode)]),
    'Waiting for you to confirm in the browser ...',
  ];
  io.stderr.write(lines.map((line) => `${line}\n`).join(''));
}

/** Returns the URL that contains the code if it has the authorization server's origin, because users open the URL without checking it. */
function trustedUrl({ verificationUriComplete: link }: DeviceAuthorization, issuer: string): string | undefined {
  return link !== undefined && URL.canParse(link) && new URL(link).origin === new URL(issuer).origin ? link : undefined;
}
