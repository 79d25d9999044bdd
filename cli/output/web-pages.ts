import { CommandFailure } from '../errors/command-error.ts';
import type { CommandSpec } from '../contract-commands/command-specification.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { isObject } from '../contract-commands/schema-violations.ts';
import type { Settings } from '../settings/settings.ts';

/** Pages of the service where people see and change what an operation reads. */
const accountPages: Readonly<Record<string, string>> = {
  'users.me': '/account',
  'connectedApps.list': '/account/apps',
  'apiKeys.list': '/account/api-keys',
};

/** Operations whose response can name a page elsewhere: that of the carrier, or of the payment provider. */
const pagesInResponses: Readonly<Record<string, (body: Record<string, unknown>) => unknown>> = {
  'payments.get': ({ next_action: action }) => (isObject(action) ? action['url'] : undefined),
  'shipments.list': ({ data }) =>
    Array.isArray(data) ? data.map((shipment) => (isObject(shipment) ? shipment['tracking_url'] : null)).find(Boolean) : undefined,
};

const noPage = ({ group, name, summary }: CommandSpec, why: string): CommandFailure =>
  new CommandFailure(exitCodes.usage, 'no_page', `"${summary}" has no page in the browser${why}`, {
    hint: `Read how it works: mandate docs ${group} ${name}`,
  });

/** The URL that `--web` opens; asks the service for it only where the response names it. */
export async function webPage(spec: CommandSpec, apiUrl: string, response: () => PromiseLike<unknown>): Promise<string> {
  const path = accountPages[spec.operationId];
  if (path !== undefined) return apiUrl + path;
  const named = pagesInResponses[spec.operationId];
  if (!named) throw noPage(spec, '');
  const body = await response();
  const url = isObject(body) ? named(body) : undefined;
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw noPage(spec, ' at the moment');
  return url;
}

/** Opens `url`, where there is a terminal, and in any case prints it. */
export async function openPage(io: Io, { quiet }: Settings, url: string): Promise<void> {
  if (!io.stdout.isTTY) return io.stdout.write(`${plainText(url)}\n`);
  if (!quiet) io.stderr.write(`Opening ${plainText(url)}\n`);
  await io.openBrowser(url).catch(() => io.stderr.write('No browser could be opened. Open the address above.\n'));
}
