import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, ConnectionError, createClient, formatMoney } from '@mandate/client-sdk';
import { clientCredentials } from '@mandate/client-sdk/authorization';
import { z } from 'zod';
import { readConfig } from '../../server/config/read-config.ts';
import { createProgressBar } from '../../server/command/progress-bar.ts';
import { importMonth } from './import-month.ts';
import { placeMonth } from './place-month.ts';
import { readMonth, type RetailMonth, sum } from './read-month.ts';

const firstRun = z.object({
  issuer: z.string(),
  applications: z.object({ administration: z.object({ client_id: z.string(), client_secret: z.string() }) }),
});

type Figure = readonly [name: string, inService: number | string, inFile: number | string];

const pounds = (pence: number): string => formatMoney(pence, 'GBP', 'en-GB');

/** Imports the month's orders with the invoice prices, and reads every order. */
async function importedFigures(client: Client, month: RetailMonth): Promise<Figure[]> {
  const imported = await importMonth(client, month, createProgressBar(process.stderr));
  process.stdout.write(
    `One month of historical orders, imported with the unit prices of the invoices.
Service: every order as GET /orders/{order_id} returns it, compared line by line with its invoice.
File: computed from the file, without cancellations, unknown customers, and lines without a quantity or price.\n\n`,
  );
  return [
    ['orders', imported.orders, month.invoices.length],
    ['lines', imported.lines, month.lines],
    ['customers', imported.customers, month.customers.length],
    ['stock codes', imported.codes, month.catalogue.length],
    ['units', imported.units, sum(month.catalogue, ({ sold }) => sold)],
    ['quantity x unit price', pounds(imported.revenue), pounds(month.paid)],
    ['sum of order totals', pounds(imported.total), pounds(month.paid)],
  ];
}

/** Places the month's orders as new orders, with one price for each product, and reads every order. */
async function placedFigures(client: Client, month: RetailMonth): Promise<Figure[]> {
  const placed = await placeMonth(client, month, createProgressBar(process.stderr));
  process.stdout.write(
    `The same month, placed as new orders. A product has only its most frequent price of the month, so the total differs from the amount paid.
Service: every order as GET /orders/{order_id} returns it, compared line by line with its invoice.
File: the lines of the file at these catalogue prices.\n\n`,
  );
  return [
    ['products', placed.products, month.catalogue.length],
    ['customers', placed.customers, month.customers.length],
    ['orders', placed.orders, month.invoices.length],
    ['lines', placed.lines, month.lines],
    ['units left in stock', placed.unitsLeft, 0],
    ['sum of order totals', pounds(placed.total), pounds(month.expected)],
  ];
}

/** `npm run retail -- <file> [--place]` imports or places one month of a real retailer's orders through the server's public API. */
async function retail(path: string, isPlaced: boolean): Promise<boolean> {
  const { dataDirectory } = readConfig();
  const firstRunFile = firstRun.parse(JSON.parse(await readFile(join(dataDirectory, 'first-run.json'), 'utf8')));
  const { client_id: clientId, client_secret: clientSecret } = firstRunFile.applications.administration;
  const client = createClient({
    baseUrl: firstRunFile.issuer,
    auth: clientCredentials({ issuer: firstRunFile.issuer, clientId, clientSecret }),
  });
  const month = await readMonth(path);
  const startedAt = performance.now();
  const figures = await (isPlaced ? placedFigures : importedFigures)(client, month);
  const cell = (value: number | string): string => value.toLocaleString('en-GB').padStart(14);
  const rows = [['figure', 'service', 'file'] as const, ...figures];
  for (const [name, inService, inFile] of rows) process.stdout.write(`${name.padEnd(24)}${cell(inService)}${cell(inFile)}\n`);
  const differing = figures.filter(([, inService, inFile]) => inService !== inFile).map(([name]) => name);
  const verdict = differing.length === 0 ? 'All figures are equal.' : `These figures differ: ${differing.join(', ')}.`;
  process.stdout.write(`\n${verdict} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)\n`);
  return differing.length === 0;
}

const [, , path, mode] = process.argv;
if (path === undefined || (mode !== undefined && mode !== '--place')) {
  process.stderr.write('usage: npm run retail -- online-retail-2010-12.csv.gz [--place]\n');
  process.exitCode = 2;
} else {
  try {
    process.exitCode = (await retail(path, mode === '--place')) ? 0 : 1;
  } catch (error) {
    const hint = error instanceof ConnectionError ? '\nIs the server running? Start it with: npm start' : '';
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}${hint}\n`);
    process.exitCode = 1;
  }
}
