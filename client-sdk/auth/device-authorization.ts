import * as oauth from 'oauth4webapi';
import type { AuthorizationRequestOptions } from './authorization-code.ts';
import type { AuthorizationServer, Tokens } from './authorization-server-metadata.ts';
import { AuthorizationError } from '../core/authorization-errors.ts';
import { ConnectionError, TimeoutError } from '../core/errors.ts';
import { parseOAuthResponseOrThrow, runWithOAuthTimeoutAndErrorConversion } from './oauth-response-timeout-and-errors.ts';
import { waitUnlessAborted } from '../core/retry-policy.ts';
import { createClientAuthentication, createOAuthRequestOptions, requestTokens } from './token-endpoint.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

export type DeviceAuthorizationOptions = Omit<AuthorizationRequestOptions, 'redirectUri'>;

/** A sign-in that the user completes in a browser on another device (RFC 8628). */
export type DeviceAuthorization = DeviceAuthorizationOptions & {
  /** Code that the user enters at `verificationUri`. */
  readonly userCode: string;
  readonly verificationUri: string;
  /** URL that includes the user code, for a link or a QR code. */
  readonly verificationUriComplete: string | undefined;
  /** Expiration time of the codes, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
  readonly intervalMs: number;
  /** Secret for the token request. Do not show this secret to the user. */
  readonly deviceCode: string;
};

/**
 * Starts a sign-in on a device without a browser. Show `userCode` and `verificationUri` to the user, then call
 * `completeDeviceAuthorization`.
 */
export async function beginDeviceAuthorization(
  server: AuthorizationServer,
  options: DeviceAuthorizationOptions,
  signal?: AbortSignal,
): Promise<DeviceAuthorization> {
  return runWithOAuthTimeoutAndErrorConversion(server.issuer, signal, async (requestSignal) => {
    const response = await oauth.deviceAuthorizationRequest(
      server.metadata,
      { client_id: options.clientId },
      createClientAuthentication(options),
      {
        scope: options.scopes.join(' '),
        ...(options.maxAge !== undefined && { max_age: String(options.maxAge) }),
        ...(options.authorizationDetails && { authorization_details: JSON.stringify(options.authorizationDetails) }),
      },
      createOAuthRequestOptions(server, requestSignal),
    );
    const body = await parseOAuthResponseOrThrow(response);
    const { user_code: userCode, verification_uri: verificationUri, device_code: deviceCode, verification_uri_complete: complete } = body;
    if (typeof userCode !== 'string' || typeof verificationUri !== 'string' || typeof deviceCode !== 'string')
      throw new AuthorizationError('invalid_response', `${server.issuer} returned no device code`);
    return {
      ...options,
      userCode,
      verificationUri,
      verificationUriComplete: typeof complete === 'string' ? complete : undefined,
      expiresAt: Date.now() + (Number(body['expires_in']) || 0) * 1000,
      intervalMs: (Number(body['interval']) || 5) * 1000,
      deviceCode,
    };
  });
}

/**
 * Polls until the user has given consent, and returns the tokens. Fails with an `AuthorizationError` whose `error` is, for example,
 * `access_denied` or `expired_token`. While the server is unreachable, the polling interval doubles with each attempt.
 */
export async function completeDeviceAuthorization(
  server: AuthorizationServer,
  device: DeviceAuthorization,
  signal?: AbortSignal,
): Promise<Tokens> {
  let { intervalMs } = device;
  for (;;) {
    await waitUnlessAborted(intervalMs, signal);
    try {
      return await requestTokens(server, device, deviceGrant, { device_code: device.deviceCode }, signal);
    } catch (error) {
      if (Date.now() >= device.expiresAt)
        throw new AuthorizationError('expired_token', 'The device code expired before the user gave consent', error);
      if (error instanceof ConnectionError || error instanceof TimeoutError) intervalMs *= 2;
      else if (error instanceof AuthorizationError && error.error === 'slow_down') intervalMs += 5_000;
      else if (!(error instanceof AuthorizationError && error.error === 'authorization_pending')) throw error;
    }
  }
}
