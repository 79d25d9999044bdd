import type { Request } from 'express';
import { describeUserAgent } from '../../sessions/describe-user-agent.ts';
import { formatIpAddress } from '../../sessions/ip-address-and-network.ts';
import { translateDeviceDescription } from '../views/account/translate-device-description.ts';
import { formatTimestamp } from '../views/format-time-and-money.ts';
import type { PageSettings } from '../views/page-layout-and-form-fields.ts';
import type { EmailList } from './render-email.ts';

/**
 * Lists the time, browser and IP address of a change, so that the account owner can recognize the change.
 * @param req the request that made the change, sent by the owner or an intruder; undefined if the change was not made in a browser
 */
export function describeChangeTimeAndSource(
  settings: PageSettings,
  now: Date,
  req: Pick<Request, 'headers' | 'ip'> | undefined,
): EmailList {
  const { mail, sessions } = settings.messages;
  const time = formatTimestamp(settings, now);
  if (req === undefined) return { title: mail.when, items: [time] };
  const device = describeUserAgent(req.headers['user-agent']);
  const browser = device === null ? sessions.unknown : translateDeviceDescription(settings, device);
  const address = req.ip === undefined ? [] : [sessions.address({ address: formatIpAddress(req.ip) })];
  return { title: mail.whenAndWhere, items: [time, browser, ...address] };
}
