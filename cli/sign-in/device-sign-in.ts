import { AuthorizationError } from '@mandate/client-sdk';
import {
  beginDeviceAuthorization,
  completeDeviceAuthorization,
  type AuthorizationServer,
  type DeviceAuthorization,
  type Tokens,
} from '@mandate/client-sdk/authorization';
import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { plainText, printableJson } from '../terminal/safe-terminal-text.ts';
import type { Settings } from '../settings/settings.ts';
import { endingAfter, refused, type SignIn } from './sign-in-methods.ts';

/** Signs in with a code that the user enters in a browser on any machine (RFC 8628). */
export async function signInWithDevice(
  io: Io,
  settings: Settings,
  server: AuthorizationServer,
  { clientId, scopes, waitMs, maxAge }: SignIn,
): Promise<Tokens> {
  const deadline = endingAfter(io, waitMs);
  try {
    const device = await beginDeviceAuthorization(server, { clientId, scopes, maxAge }, deadline.signal);
    printInstructions(io, settings, device, server.issuer);
    return await completeDeviceAuthorization(server, device, deadline.signal);
  } catch (error) {
    if (deadline.signal.aborted) throw deadline.signal.reason;
    if (!(error instanceof AuthorizationError)) throw error;
    if (error.error === 'access_denied') throw refused(error);
    if (error.error !== 'expired_token') throw error;
    throw new CommandFailure(exitCodes.signInNeeded, 'sign_in_timeout', 'The code was not entered in time', {
      cause: error,
      hint: 'Retry with: mandate login --device',
    });
  } finally {
    deadline.stop();
  }
}

function printInstructions(io: Io, settings: Settings, device: DeviceAuthorization, issuer: string): void {
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
    return io.stdout.write(`${printableJson(output)}\n`);
  }
  const lines = [
    'Open this URL in a browser on any machine:',
    plainText(verificationUri),
    `and enter this code: ${plainText(userCode)}`,
    ...(urlWithCode === undefined ? [] : ['Or open this URL, which contains the code:', plainText(urlWithCode)]),
    'Waiting for you to confirm in the browser ...',
  ];
  io.stderr.write(lines.map((line) => `${line}\n`).join(''));
}

/** Returns the URL that contains the code, if it has the origin of the authorization server. Users open it without checking. */
function trustedUrl({ verificationUriComplete: link }: DeviceAuthorization, issuer: string): string | undefined {
  return link !== undefined && URL.canParse(link) && new URL(link).origin === new URL(issuer).origin ? link : undefined;
}
