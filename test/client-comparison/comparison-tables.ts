import type { ClientMeasurement } from './measure-client.ts';
import type { ToolsMeasurement } from './measure-tools.ts';

const thousands = new Intl.NumberFormat('en');

/** Returns the table of client libraries in Markdown. */
export const renderClientTable = (clients: readonly ClientMeasurement[]): string =>
  [
    '| client | in a page, gzipped | startup in Node, CPU time | installed | packages |',
    '|---|---|---|---|---|',
    ...clients.map(
      ({ name, gzippedBytes, startUpMs, installedMb, packages }) =>
        `| ${name} | ${thousands.format(gzippedBytes)} bytes | ${startUpMs.toFixed(0)} ms | ${installedMb.toFixed(1)} MB | ${packages} |`,
    ),
  ].join('\n');

/** Returns the table of tool servers in Markdown. */
export const renderToolTable = (servers: readonly ToolsMeasurement[]): string =>
  [
    '| server | tools | tokens in the definitions |',
    '|---|---|---|',
    ...servers.map(({ name, tools, tokens }) => `| ${name} | ${tools} | ${thousands.format(tokens)} |`),
  ].join('\n');

/** Replaces the table after a heading line in a document. @throws if the document has no such line, or no table after it */
export function replaceTable(document: string, line: string, table: string): string {
  const [before, after, ...others] = document.split(`\n${line}\n\n|`);
  if (before === undefined || after === undefined || others.length > 0)
    throw new Error(`the document has no table after the line: ${line}`);
  const rest = `|${after}`.replace(/^(?:\|.*\n)+/, '');
  return `${before}\n${line}\n\n${table}\n${rest}`;
}
