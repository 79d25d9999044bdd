import { z } from 'zod';
import { deviceCodeGrantType } from '../../../server/applications/application.entity.ts';
import type { HtmlPage } from '../browser/browser.ts';
import { sendTokenRequest, cliClient, type TestUser } from './oauth-flow.ts';

const deviceAuthorizationSchema = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string(),
  expires_in: z.number(),
  interval: z.number(),
});
export type DeviceAuthorization = z.infer<typeof deviceAuthorizationSchema>;

/** Sends a device authorization request (RFC 8628 section 3.1). */
export async function startDeviceAuthorization(
  origin: string,
  scope = 'openid users.read',
  parameters: Record<string, string> = {},
): Promise<DeviceAuthorization> {
  const body = new URLSearchParams({ client_id: cliClient.clientId, scope, ...parameters });
  return deviceAuthorizationSchema.parse(await (await fetch(`${origin}/oauth/device-authorization`, { method: 'POST', body })).json());
}

/** Sends one token request, as a polling device does (RFC 8628 section 3.4). */
export const pollDeviceToken = (origin: string, deviceCode: string, form: Record<string, string> = {}): Promise<Response> =>
  sendTokenRequest(origin, { grant_type: deviceCodeGrantType, device_code: deviceCode, client_id: cliClient.clientId, ...form });

/** Submits the user code. Returns the page on which the user compares the code. */
export async function submitUserCode({ browser }: Pick<TestUser, 'browser'>, userCode: string): Promise<HtmlPage> {
  return browser.submit(await browser.open('/oauth/device'), { user_code: userCode });
}

/** Completes the device flow for a signed-in user: enters the code, confirms it and gives consent. Returns the final page. */
export async function approveDevice(person: Pick<TestUser, 'browser'>, userCode: string): Promise<HtmlPage> {
  const consent = await person.browser.submit(await submitUserCode(person, userCode), {});
  if (!consent.url.pathname.startsWith('/consent/')) throw new Error(`the device flow ended at ${consent.url.pathname}: ${consent.text}`);
  return person.browser.submit(consent, { decision: 'allow' });
}

/** SQL statement that ends the polling interval of all device codes, so that devices can poll again immediately. */
export const expirePollIntervalSql = `update oauth_records set poll_after = poll_after - interval '1 hour' where model = 'DeviceCode'`;
