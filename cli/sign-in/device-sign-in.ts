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

/** Signs in with a browser on any machine, by a code that the person types there (RFC 8628). */
export async function signInWithDevice(
  io: Io,
  settings: Settings,
  server: AuthorizationServer,
  { clientId, scopes, waitMs, maxAge }: SignIn,
): Promise<Tokens> {
  const time = endingAfter(io, waitMs);
  try {
    const device = await beginDeviceAuthorization(server, { clientId, scopes, maxAge }, time.signal);
    tell(io, settings, device, server.issuer);
    return await completeDeviceAuthorization(server, device, time.signal);
  } catch (error) {
    if (time.signal.aborted) throw time.signal.reason;
    if (!(error instanceof AuthorizationError)) throw error;
    if (error.error === 'access_denied') throw refused(error);
    if (error.error !== 'expired_token') throw error;
    throw new CommandFailure(exitCodes.signInNeeded, 'sign_in_timeout', 'Nobody typed the code in time', {
      cause: error,
      hint: 'Try again with: mandate login --device',
    });
  } finally {
    time.stop();
  }
}

function tell(io: Io, settings: Settings, device: DeviceAuthorization, issuer: string): void {
  const { userCode, verificationUri, expiresAt } = device;
  const complete = trustedLink(device, issuer);
  if (settings.format !== 'text') {
    const expiresIn = Math.round((expiresAt - Date.now()) / 1000);
    const shown = {
      verification_uri: verificationUri,
      verification_uri_complete: complete ?? null,
      user_code: userCode,
      expires_in: expiresIn,
    };
    return io.stdout.write(`${printableJson(shown)}\n`);
  }
  const lines = [
    'Open this address in a browser on any machine:',
    plainText(verificationUri),
    `and type this code there: ${plainText(userCode)}`,
    ...(complete === undefined ? [] : ['Or open the address that has the code in it:', plainText(complete)]),
    'Waiting for you to agree there ...',
  ];
  io.stderr.write(lines.map((line) => `${line}\n`).join(''));
}

/** The address with the code in it, if it leads to the authorization server itself: people open it without looking. */
function trustedLink({ verificationUriComplete: link }: DeviceAuthorization, issuer: string): string | undefined {
  return link !== undefined && URL.canParse(link) && new URL(link).origin === new URL(issuer).origin ? link : undefined;
}
