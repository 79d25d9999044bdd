import * as oauth from 'oauth4webapi';
import type { AuthorizationServer, Tokens } from './authorization-server-metadata.ts';
import { AuthorizationError, ConnectionError, TimeoutError } from '../core/errors.ts';
import { bodyOf, understood } from './oauth-request.ts';
import { pause } from '../core/retry.ts';
import { clientAuthentication, requestOptions, requestTokens } from './token-endpoint.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

export type DeviceAuthorizationOptions = {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** How old the sign-in of the user may be, in seconds (OpenID Connect Core section 3.1.2.1); an older one is repeated (RFC 9470 section 4). */
  readonly maxAge?: number | undefined;
};

/** A sign-in that a person completes in a browser on another device (RFC 8628). */
export type DeviceAuthorization = DeviceAuthorizationOptions & {
  /** What the person types there, and where. */
  readonly userCode: string;
  readonly verificationUri: string;
  /** The same with the code in it, for a link or a QR code. */
  readonly verificationUriComplete: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly intervalMs: number;
  /** Worth the tokens once the person agreed: show it to nobody. */
  readonly deviceCode: string;
};

/** Begins a sign-in on a device without a browser. Show `userCode` and `verificationUri`, then `completeDeviceAuthorization`. */
export async function beginDeviceAuthorization(
  server: AuthorizationServer,
  options: DeviceAuthorizationOptions,
  signal?: AbortSignal,
): Promise<DeviceAuthorization> {
  return understood(server.issuer, signal, async (ending) => {
    const response = await oauth.deviceAuthorizationRequest(
      server.metadata,
      { client_id: options.clientId },
      clientAuthentication(options),
      { scope: options.scopes.join(' '), ...(options.maxAge !== undefined && { max_age: String(options.maxAge) }) },
      requestOptions(server, ending),
    );
    const answer = await bodyOf(response);
    const { user_code: userCode, verification_uri: verificationUri, device_code: deviceCode, verification_uri_complete: complete } = answer;
    if (typeof userCode !== 'string' || typeof verificationUri !== 'string' || typeof deviceCode !== 'string')
      throw new AuthorizationError('invalid_response', `${server.issuer} answered without a code`);
    return {
      ...options,
      userCode,
      verificationUri,
      verificationUriComplete: typeof complete === 'string' ? complete : undefined,
      expiresAt: Date.now() + (Number(answer['expires_in']) || 0) * 1000,
      intervalMs: (Number(answer['interval']) || 5) * 1000,
      deviceCode,
    };
  });
}

/**
 * Waits until the person agreed. Fails with `AuthorizationError` `access_denied` or `expired_token`;
 * a server that is away for a moment is asked again, less and less often.
 */
export async function completeDeviceAuthorization(
  server: AuthorizationServer,
  device: DeviceAuthorization,
  signal?: AbortSignal,
): Promise<Tokens> {
  let { intervalMs } = device;
  for (;;) {
    await pause(intervalMs, signal);
    try {
      return await requestTokens(server, device, deviceGrant, { device_code: device.deviceCode }, signal);
    } catch (error) {
      if (Date.now() >= device.expiresAt) throw new AuthorizationError('expired_token', 'Nobody agreed in time', error);
      if (error instanceof ConnectionError || error instanceof TimeoutError) intervalMs *= 2;
      else if (error instanceof AuthorizationError && error.error === 'slow_down') intervalMs += 5_000;
      else if (!(error instanceof AuthorizationError && error.error === 'authorization_pending')) throw error;
    }
  }
}
