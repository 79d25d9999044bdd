import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConnectionError, createClient, formatMoney } from '@mandate/client-sdk';
import { clientCredentials } from '@mandate/client-sdk/authorization';
import { z } from 'zod';
import { readConfig } from '../../server/config.ts';
import { placeMonth } from './place-month.ts';
import { progressBar } from '../../server/command/progress-bar.ts';
import { readMonth } from './read-month.ts';

const firstRun = z.object({
  issuer: z.string(),
  applications: z.object({ administration: z.object({ client_id: z.string(), client_secret: z.string() }) }),
});

/** `npm run retail -- <file>`: a real month of orders through the public API of the running server. */
async function retail(path: string): Promise<boolean> {
  const { dataDirectory } = readConfig();
  const made = firstRun.parse(JSON.parse(await readFile(join(dataDirectory, 'first-run.json'), 'utf8')));
  const { client_id: clientId, client_secret: clientSecret } = made.applications.administration;
  const client = createClient({ baseUrl: made.issuer, auth: clientCredentials({ issuer: made.issuer, clientId, clientSecret }) });
  const month = await readMonth(path);
  const begun = performance.now();
  const placed = await placeMonth(client, month, progressBar(process.stderr));
  const pounds = (pence: number): string => formatMoney(pence, 'GBP', 'en-GB');
  const rows = [
    ['products', placed.products, month.catalogue.length],
    ['customers', placed.customers, month.customers.length],
    ['orders', placed.orders, month.invoices.length],
    ['lines', placed.lines, month.lines],
    ['units left in stock', placed.unitsLeft, 0],
    ['sum of all totals', pounds(placed.total), pounds(month.expected)],
  ] as const;
  const digits = (value: number | string): string => value.toLocaleString('en-GB').padStart(14);
  for (const [what, inService, inFile] of rows)
    process.stdout.write(`${what.padEnd(20)}${digits(inService)}${digits(inFile)}${inService === inFile ? '' : '  differs'}\n`);
  process.stdout.write(
    `in ${((performance.now() - begun) / 1000).toFixed(1)} s; the second column is counted from the file, at catalogue prices\n`,
  );
  return rows.every(([, inService, inFile]) => inService === inFile);
}

const [, , path] = process.argv;
if (path === undefined) {
  process.stderr.write('usage: npm run retail -- online-retail-2010-12.csv.gz\n');
  process.exitCode = 2;
} else {
  try {
    process.exitCode = (await retail(path)) ? 0 : 1;
  } catch (error) {
    const hint = error instanceof ConnectionError ? '\nIs the server running? Start it with: npm start' : '';
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}${hint}\n`);
    process.exitCode = 1;
  }
}
