import { contract, fileFormats, productCreate, productUpdate, type Product, type ProductCreate } from '@mandate/contract';
import { z } from 'zod';
import type { Em } from '../database/orm.ts';
import { statement } from '../database/statement.ts';
import { Problem } from '../http/problem.ts';
import { amount, checked, integer, type Mistake } from '../imports/cell-values.ts';
import type { FileRecord } from '../imports/file-record.ts';
import { readRecords, type StoredFile } from '../imports/read-records.ts';
import { runImport, type Verdict } from '../imports/run-import.ts';
import { survey } from '../imports/survey.ts';
import { createProduct, createProducts } from '../products/create-product.ts';
import { lockProduct, patchProduct } from '../products/update-product.ts';
import { type ClaimedTask, type Outcome, storedInput, type TaskRun } from '../tasks/task-run.ts';

const productImport = contract.productImports.create.query.extend({ format: z.enum(fileFormats) });
type ProductImport = z.output<typeof productImport>;

/** Creates the products that are new, and changes those that exist. */
export async function importProducts(run: TaskRun): Promise<Outcome> {
  const { task, em } = run;
  const params = productImport.parse(task.params);
  const file: StoredFile = { em, fileId: storedInput(task), format: params.format, keep: () => run.keep() };
  return runImport(run, {
    dryRun: params.dry_run === 'true',
    survey: async () => ({ total: await survey(readRecords(file), [params.sku_column]) }),
    piecesFrom: (from) => piecesOf(readRecords(file, from)),
    rowsOf: () => 1,
    lineOf: ({ line }) => line,
    importPiece: (inner, record) => importProduct(inner, params, actorOf(task), record),
    importBatch: (inner, records) => importBatch(inner, params, actorOf(task), records),
  });
}

async function* piecesOf(records: AsyncIterable<FileRecord>) {
  for await (const piece of records) yield { piece, end: piece.end };
}

/** Who changes the stock of what the import creates. */
const actorOf = ({ client_id: clientId, user_id: userId }: ClaimedTask): string => `${clientId}/${userId ?? ''}`;

type Known = Pick<Product, 'id' | 'currency' | 'version'>;
const findBySku = statement<Known>('find_imported_product', 'select id, currency, version from products where sku = $1');

const findSkus = statement<{ sku: string }>('find_imported_skus', 'select sku from products where sku = any($1::text[])');

/** Creates the new products of a batch at once. The other rows are imported one by one. */
async function importBatch(em: Em, params: ProductImport, actor: string, records: readonly FileRecord[]): Promise<Verdict[]> {
  const skus = records.flatMap(({ cells }) => cells.get(params.sku_column) ?? []);
  const seen = new Set((await findSkus(em, [skus])).map(({ sku }) => sku));
  const products = new Map<FileRecord, ProductCreate>();
  for (const record of records) {
    const sku = record.cells.get(params.sku_column);
    if (sku === undefined || record.mistake !== undefined || seen.has(sku)) continue;
    seen.add(sku);
    const product = newProduct(params, record.cells);
    if ('data' in product) products.set(record, product.data);
  }
  if (products.size > 0) await createProducts(em, actor, [...products.values()]);
  const verdicts: Verdict[] = [];
  for (const record of records) {
    verdicts.push(products.has(record) ? { outcome: 'created', remarks: [] } : await importProduct(em, params, actor, record));
  }
  return verdicts;
}

const newProduct = (params: ProductImport, cells: ReadonlyMap<string, string>) =>
  checked(productCreate, { category: params.category, ...rowOf(params, cells, undefined) });

async function importProduct(em: Em, params: ProductImport, actor: string, { line, cells, mistake }: FileRecord): Promise<Verdict> {
  const refused = (...mistakes: Mistake[]): Verdict => ({ outcome: 'refused', remarks: mistakes.map((each) => ({ line, ...each })) });
  if (mistake !== undefined) return refused({ code: 'unreadable', detail: mistake });
  const sku = cells.get(params.sku_column);
  const [known] = sku === undefined ? [] : await findBySku(em, [sku]);
  if (!known) {
    const product = newProduct(params, cells);
    if ('mistakes' in product) return refused(...product.mistakes);
    await createProduct(em, actor, product.data);
    return { outcome: 'created', remarks: [] };
  }
  const { sku: _, stock: __, currency, ...changes } = rowOf(params, cells, known);
  if (currency !== known.currency)
    return refused({ field: 'currency', code: 'read_only_field', detail: `It is ${known.currency}, and stays.` });
  const update = checked(productUpdate, changes);
  if ('mistakes' in update) return refused(...update.mistakes);
  try {
    // An entity of its own for every row: one that is refused leaves no half of its changes behind.
    const own = em.fork({ keepTransactionContext: true });
    const { version } = await patchProduct(own, await lockProduct(own, known.id), update.data);
    return { outcome: version === known.version ? 'unchanged' : 'updated', remarks: [] };
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_transition')
      return refused({ field: 'status', code: error.code, detail: error.message });
    throw error;
  }
}

function rowOf(params: ProductImport, cells: ReadonlyMap<string, string>, known: Known | undefined) {
  const currency = cells.get(params.currency_column) ?? known?.currency ?? params.currency;
  return given({
    sku: cells.get(params.sku_column),
    name: cells.get(params.name_column),
    description: cells.get(params.description_column),
    category: cells.get(params.category_column),
    price: amount(cells.get(params.price_column), params.amounts, currency),
    currency,
    tax_rate_bps: integer(cells.get(params.tax_rate_bps_column)),
    stock: integer(cells.get(params.stock_column)),
    status: cells.get(params.status_column),
  });
}

/** Without what the file does not say. */
const given = <Row extends object>(row: Row): Partial<Row> => {
  const entries = Object.entries(row).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same fields, or fewer
  return Object.fromEntries(entries) as Partial<Row>;
};
