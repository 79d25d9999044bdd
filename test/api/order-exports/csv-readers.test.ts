/** Tests that other programs read exported CSV files correctly. */
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { neutralizeCsvFormulas, restoreCsvFormulas } from '../../../server/tasks/neutralize-and-restore-csv-formulas.ts';
import { csvReaders } from '../../support/csv-readers.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { completeTask } from '../../support/shop/run-tasks.ts';

const shop = withShop();
const staff = shop.staff(['orders.read', 'orders.write', 'orders.manage', 'tasks.read', 'tasks.write']);

async function placeOrder(reference: string, note: string): Promise<JsonBody> {
  const product = await shop.createProduct();
  const body = { ...buildOrderInput([product, 1]), reference, note };
  const response = await shop.callApi('POST', '/api/v1/orders', { token: staff.token, body });
  expect(response.status, response.text).toBe(201);
  return response.body;
}

async function runExport(body: object): Promise<string> {
  const started = await shop.callApi('POST', '/api/v1/order-exports', { token: staff.token, body });
  return (await completeTask(shop, staff.token, started)).file;
}

const triggers = ['=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20'];
const lineEnds = ['\r', '\n', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029'];
const spaces = [' ', '\t', '\u00a0', '\u1680', '\u2003', '\u202f', '\u3000', '\ufeff', '\u200b'];
const hostileCell = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...triggers, '=1+1', '@SUM(1)', "'=", '-2+3') },
      { weight: 4, arbitrary: fc.constantFrom(...lineEnds, ...spaces) },
      { weight: 3, arbitrary: fc.constantFrom(',', ';', '|', '"', '""', "'", '\\', '\\"') },
      { weight: 2, arbitrary: fc.constantFrom('a', 'tea', '7', 'é', '\u{1f600}', '{}') },
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** Splits a cell at each character that a program could treat as the end of the cell. Removes leading spaces and invisible characters. */
const splitCell = (cell: string): string[] =>
  cell
    .split(/[\r\n\t\v\f\u0085\u2028\u2029\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff]/u)
    .map((piece) => piece.replace(/^[\s\p{Cf}]+/u, ''));
const startsFormula = (cell: string): boolean =>
  /^[\t\r]/.test(cell) || splitCell(cell).some((piece) => triggers.some((each) => piece.startsWith(each)));
/** LibreOffice normalizes line breaks within cells, and merges consecutive line breaks. */
const withPlainLineBreaks = (cell: string): string => cell.replaceAll(/[\r\n]+/g, '\n');

const columns = ['id', 'note', 'recipient_name', 'metadata', 'reference', 'total'];
const simpleFormulas = [
  '=1+1',
  'a\r=1+1',
  'a\r\n=1+1',
  'a\n+1',
  'a\t@SUM(1)',
  '\u00a0=1+1',
  'a\u3000=1+1',
  '  =1+1',
  '\uff1d1+1',
  'a,"b";c',
  '\t=1',
  '\r=1',
];

describe.each(csvReaders)('$name', (reader) => {
  const hostile = [...simpleFormulas, ...fc.sample(hostileCell, { numRuns: 400, seed: 20_261_122 })];
  const reference = 'hostile';
  let ids: string[];
  let file: string;

  beforeAll(async () => {
    const em = shop.db.em.fork();
    await em.execute(`update orders set reference = null where reference = ?`, [reference]);
    const { id } = await placeOrder(reference, hostile[0] ?? '');
    // Imported and older orders can contain characters that the API now rejects.
    await em.execute(
      `insert into orders (user_id, status, currency, subtotal, shipping_total, tax_total, total, item_count, delivery, reference, note, metadata, created_at)
       select user_id, status, currency, subtotal, shipping_total, tax_total, total, item_count,
              delivery || jsonb_build_object('recipient_name', text), reference, text, jsonb_build_object(text, text), o.created_at - make_interval(secs => 1000 - position)
         from orders o cross join jsonb_array_elements_text(?::jsonb) with ordinality as hostile (text, position) where id = ?`,
      [JSON.stringify(hostile), id],
    );
    file = await runExport({ reference, columns });
    ids = (
      await em.execute<{ id: string }[]>('select id::text as id from orders where reference = ? order by created_at, id', [reference])
    ).map(({ id: copied }) => copied);
  });

  test('reads exactly the exported rows and cells, without formulas', async ({ skip }) => {
    skip(!reader.isInstalled, 'not installed');
    const [header, ...rows] = await reader.read(file);
    expect(header).toEqual(columns);
    expect(rows.map(([id]) => id)).toEqual(ids);
    expect(rows.filter((row) => row.length !== columns.length)).toEqual([]);
    expect(rows.flat().filter(startsFormula)).toEqual([]);
    const copies = rows.slice(0, -1);
    const intended = hostile.map((text) => withPlainLineBreaks(neutralizeCsvFormulas(text)));
    expect(copies.map((row) => withPlainLineBreaks(row[1] ?? ''))).toEqual(intended);
    expect(copies.map((row) => withPlainLineBreaks(row[2] ?? ''))).toEqual(intended);
    for (const [at, row] of copies.entries()) expect(JSON.parse(row[3] ?? '')).toEqual({ [hostile[at] ?? '']: hostile[at] });
  });

  test('reads a formula that is not neutralized', async ({ skip }) => {
    skip(!reader.isInstalled, 'not installed');
    const [row] = await reader.read('1,=1+1\r\n');
    expect(['2', '=1+1']).toContain(row?.[1]);
  });
});

test('a note with a bare CR remains one cell of one row', async () => {
  await placeOrder('bare-cr', 'Thanks\r=HYPERLINK("https://evil.example")');
  const { id } = await placeOrder('bare-cr', 'Thanks\r=1+1');
  expect((await runExport({ reference: 'bare-cr', columns: ['id', 'note'] })).split('\r\n')[2]).toBe(`${id},"Thanks\r'=1+1"`);
});

test('neutralized texts can be restored', () => {
  const isSafe = (text: string): boolean =>
    restoreCsvFormulas(neutralizeCsvFormulas(text)) === text && !startsFormula(neutralizeCsvFormulas(text));
  expect(() => fc.assert(fc.property(hostileCell, isSafe), { numRuns: 5_000 })).not.toThrow();
});

test('an export can be imported again without changes to its texts', async () => {
  const notes = ['=1+1', "a\r\n'=1", 'a\t+1', 'x\u00a0@y', 'plain, "quoted"', "'=1"];
  for (const [at, note] of notes.entries()) await placeOrder(`again-${at}`, note);
  const file = await runExport({
    rows: 'lines',
    status: ['pending'],
    columns: ['reference', 'created_at', 'note', 'sku', 'quantity', 'unit_price'],
  });
  const [header = '', ...rows] = file.split(/\r\n(?=again-|$)/).filter((row, at) => at === 0 || row.startsWith('again-'));
  const query = new URLSearchParams({ source: 'again', currency: 'GBP', user_id: String(staff.id), status_column: 'none' });
  const response = await fetch(`${shop.origin}/api/v1/order-imports?${query.toString()}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${staff.token}`, 'content-type': 'text/csv' },
    body: [header.split('\r\n')[0], ...rows, ''].join('\r\n'),
  });
  const text = await response.text();
  const started: ApiResponse = { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  const { task } = await completeTask(shop, staff.token, started);
  expect(task.result.imported).toMatchObject({ created: notes.length, updated: 0, unchanged: 0, refused: 0 });
  for (const [at, note] of notes.entries()) {
    const { body } = await shop.callApi('GET', `/api/v1/orders?reference=again-${at}`, { token: staff.token });
    expect(body.data.map((order: JsonBody) => order.note)).toEqual([note, note]);
  }
});
