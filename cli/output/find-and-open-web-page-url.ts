import { CommandError } from '../errors/command-error.ts';
import type { CommandSpec } from '../schema/command-spec-type.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { isRecord } from '../schema/find-schema-violations.ts';
import type { Settings } from '../settings/resolve-settings.ts';

/** Account pages that show the same data as an operation, by operation ID. */
const accountPages: Readonly<Record<string, string>> = {
  'users.me': '/account',
  'connectedApps.list': '/account/apps',
  'apiKeys.list': '/account/api-keys',
};

/** Functions that find the URL of the carrier's or payment provider's page in a response, by operation ID. */
const pagesInResponses: Readonly<Record<string, (body: Record<string, unknown>) => unknown>> = {
  'payments.get': ({ next_action: action }) => (isRecord(action) ? action['url'] : undefined),
  'shipments.list': ({ data }) =>
    Array.isArray(data) ? data.map((shipment) => (isRecord(shipment) ? shipment['tracking_url'] : null)).find(Boolean) : undefined,
};

const noPageError = ({ group, name, summary }: CommandSpec, reason: string): CommandError =>
  new CommandError(exitCodes.usage, 'no_page', `No web page is available for "${summary}"${reason}`, {
    hint: `Open its reference with: mandate docs ${group} ${name}`,
  });

/** Returns the URL that `--web` opens. Sends the request only if the response contains the URL. */
export async function resolveWebPageUrl(spec: CommandSpec, apiUrl: string, response: () => PromiseLike<unknown>): Promise<string> {
  const path = accountPages[spec.operationId];
  if (path !== undefined) return apiUrl + path;
  const findUrl = pagesInResponses[spec.operationId];
  if (!findUrl) throw noPageError(spec, '');
  const body = await response();
  const url = isRecord(body) ? findUrl(body) : undefined;
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw noPageError(spec, ' at the moment');
  return url;
}

/** Opens a URL in the browser and prints the URL. If the output is piped, only prints the URL. */
export async function openUrlInBrowserOrPrint(io: CliEnvironment, { quiet }: Settings, url: string): Promise<void> {
  if (!io.stdout.isTTY) return io.stdout.write(`${sanitizeForTerminal(url)}\n`);
  if (!quiet) io.stderr.write(`Opening ${sanitizeForTerminal(url)}\n`);
  await io.openBrowser(url).catch(() => io.stderr.write('The browser could not be opened. Open the URL above.\n'));
}
