import { commandLineLabel } from '../../../sessions/describe-user-agent.ts';
import type { PageSettings } from '../page-layout-and-form-fields.ts';

/** Translates a stored description of a device (`describeUserAgent`), such as `Firefox on Linux`. */
export function translateDeviceDescription({ messages: { sessions } }: Pick<PageSettings, 'messages'>, device: string): string {
  if (device === commandLineLabel) return sessions.commandLine;
  const [browser = '', system] = device.split(' on ', 2);
  return system === undefined ? device : sessions.browserOnSystem({ browser, system });
}
