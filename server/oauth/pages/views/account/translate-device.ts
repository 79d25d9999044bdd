import type { PageSettings } from '../page-layout-and-form-fields.ts';

/** Translates a stored description of a device, such as `Firefox on Linux` (describe-user-agent.ts). */
export function translateDevice({ messages: { sessions } }: PageSettings, device: string): string {
  const [browser = '', system] = device.split(' on ', 2);
  return system === undefined ? device : sessions.browserOnSystem({ browser, system });
}
