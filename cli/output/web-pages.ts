import { CommandFailure } from '../errors/command-error.ts';
import type { CommandSpec } from '../contract-commands/command-specification.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { isObject } from '../contract-commands/schema-violations.ts';
import type { Settings } from '../settings/settings.ts';

/** Account pages that show what an operation reads, by operation id. */
const accountPages: Readonly<Record<string, string>> = {
  'users.me': '/account',
  'connectedApps.list': '/account/apps',
  'apiKeys.list': '/account/api-keys',
};

/** How to find the page of a carrier or payment provider in the response, by operation id. */
const pagesInResponses: Readonly<Record<string, (body: Record<string, unknown>) => unknown>> = {
  'payments.get': ({ next_action: action }) => (isObject(action) ? action['url'] : undefined),
  'shipments.list': ({ data }) =>
    Array.isArray(data) ? data.map((shipment) => (isObject(shipment) ? shipment['tracking_url'] : null)).find(Boolean) : undefined,
};

const noPageError = ({ group, name, summary }: CommandSpec, reason: string): CommandFailure =>
  new CommandFailure(exitCodes.usage, 'no_page', `There is no web page for "${summary}"${reason}`, {
    hint: `Open its reference with: mandate docs ${group} ${name}`,
  });

/** Returns the URL that `--web` opens. Sends the request only if the URL is part of the response. */
export async function webPage(spec: CommandSpec, apiUrl: string, response: () => PromiseLike<unknown>): Promise<string> {
  const path = accountPages[spec.operationId];
  if (path !== undefined) return apiUrl + path;
  const findUrl = pagesInResponses[spec.operationId];
  if (!findUrl) throw noPageError(spec, '');
  const body = await response();
  const url = isObject(body) ? findUrl(body) : undefined;
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw noPageError(spec, ' at present');
  return url;
}

/** Opens a URL in the browser and prints it. In a pipe, only prints it. */
export async function openPage(io: Io, { quiet }: Settings, url: string): Promise<void> {
  if (!io.stdout.isTTY) return io.stdout.write(`${plainText(url)}\n`);
  if (!quiet) io.stderr.write(`Opening ${plainText(url)}\n`);
  await io.openBrowser(url).catch(() => io.stderr.write('The browser could not be opened. Open the URL above.\n'));
}
