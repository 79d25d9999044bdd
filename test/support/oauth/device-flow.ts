import { z } from 'zod';
import { deviceGrantType } from '../../../server/applications/application.entity.ts';
import type { Page } from '../browser/browser.ts';
import { askForTokens, commandLine, type Person } from './oauth-flow.ts';

const deviceAuthorizationSchema = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string(),
  expires_in: z.number(),
  interval: z.number(),
});
export type DeviceRequest = z.infer<typeof deviceAuthorizationSchema>;

/** Sends a device authorization request (RFC 8628 section 3.1). */
export async function beginOnDevice(
  origin: string,
  scope = 'openid users.read',
  parameters: Record<string, string> = {},
): Promise<DeviceRequest> {
  const body = new URLSearchParams({ client_id: commandLine.clientId, scope, ...parameters });
  return deviceAuthorizationSchema.parse(await (await fetch(`${origin}/oauth/device-authorization`, { method: 'POST', body })).json());
}

/** Sends one token request of the device, as it does while polling (RFC 8628 section 3.4). */
export const askFromDevice = (origin: string, deviceCode: string, form: Record<string, string> = {}): Promise<Response> =>
  askForTokens(origin, { grant_type: deviceGrantType, device_code: deviceCode, client_id: commandLine.clientId, ...form });

/** Submits the user code. Returns the page that asks the user to compare the code. */
export async function enterCode({ browser }: Pick<Person, 'browser'>, userCode: string): Promise<Page> {
  return browser.submit(await browser.open('/oauth/device'), { user_code: userCode });
}

/** Completes the device flow for a signed-in user: code, comparison and consent. Returns the final page. */
export async function connectDevice(person: Pick<Person, 'browser'>, userCode: string): Promise<Page> {
  const consent = await person.browser.submit(await enterCode(person, userCode), {});
  if (!consent.url.pathname.startsWith('/consent/')) throw new Error(`the device flow ended at ${consent.url.pathname}: ${consent.text}`);
  return person.browser.submit(consent, { decision: 'allow' });
}

/** SQL that expires the poll interval of all device codes. */
export const wait = `update oauth_records set poll_after = poll_after - interval '1 hour' where model = 'DeviceCode'`;
