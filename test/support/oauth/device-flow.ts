import { z } from 'zod';
import { deviceGrantType } from '../../../server/applications/application.entity.ts';
import type { Page } from '../browser/browser.ts';
import { askForTokens, commandLine, type Person } from './oauth-flow.ts';

const begun = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string(),
  expires_in: z.number(),
  interval: z.number(),
});
export type DeviceRequest = z.infer<typeof begun>;

/** What a device without a browser does first. */
export async function beginOnDevice(
  origin: string,
  scope = 'openid users.read',
  more: Record<string, string> = {},
): Promise<DeviceRequest> {
  const body = new URLSearchParams({ client_id: commandLine.clientId, scope, ...more });
  return begun.parse(await (await fetch(`${origin}/oauth/device-authorization`, { method: 'POST', body })).json());
}

/** One question of the device whether somebody has said yes. */
export const askFromDevice = (origin: string, deviceCode: string, form: Record<string, string> = {}): Promise<Response> =>
  askForTokens(origin, { grant_type: deviceGrantType, device_code: deviceCode, client_id: commandLine.clientId, ...form });

/** Types the code; gives the page that asks whether it is the same. */
export async function enterCode({ browser }: Pick<Person, 'browser'>, userCode: string): Promise<Page> {
  return browser.submit(await browser.open('/oauth/device'), { user_code: userCode });
}

/** From the page with the code to the page that says it is done; somebody who is signed in. */
export async function connectDevice(person: Pick<Person, 'browser'>, userCode: string): Promise<Page> {
  const consent = await person.browser.submit(await enterCode(person, userCode), {});
  if (!consent.url.pathname.startsWith('/consent/')) throw new Error(`the device flow ended at ${consent.url.pathname}: ${consent.text}`);
  return person.browser.submit(consent, { decision: 'allow' });
}

/** As if that much time had passed since the device asked. */
export const wait = `update oauth_records set poll_after = poll_after - interval '1 hour' where model = 'DeviceCode'`;
