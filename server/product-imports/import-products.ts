import { contract, fileFormats, productCreateSchema, productUpdateSchema, type Product, type ProductCreate } from '@mandate/contract';
import { z } from 'zod';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Problem } from '../http/problem-details/problem.ts';
import { parseAmountCell, validateImportRow, parseIntegerCell, type RowError } from '../imports/parse-import-cells-and-validate-row.ts';
import type { ImportFileRow } from '../imports/import-row-types-and-cell-normalization.ts';
import type { ImportFile } from '../imports/import-row-types-and-cell-normalization.ts';
import { readImportRows } from '../imports/read-import-rows.ts';
import { runImport, type ImportOutcome } from '../imports/run-import.ts';
import { validateAndCountRows } from '../imports/validate-and-count-rows.ts';
import { createProduct, createProducts } from '../products/create-product.ts';
import { Product as ProductEntity } from '../products/product-stock-and-adjustment.entity.ts';
import { lockProductRow, updateProductByMergePatch } from '../products/update-or-delete-product.ts';
import { type ClaimedTask, type TaskOutcome, requireTaskInputFileId, type TaskAttempt } from '../tasks/task-attempt.ts';

const productImportSchema = contract.productImports.create.query.extend({ format: z.enum(fileFormats) });
type ProductImportParams = z.output<typeof productImportSchema>;

/** Imports products from a file. Creates new products and updates existing products. */
export async function importProducts(run: TaskAttempt): Promise<TaskOutcome> {
  const { task, em } = run;
  const params = productImportSchema.parse(task.params);
  const file: ImportFile = { em, fileId: requireTaskInputFileId(task), format: params.format, renewLease: () => run.renewLease() };
  return runImport(run, {
    dryRun: params.dry_run === 'true',
    checkFile: async () => ({ total: await validateAndCountRows(readImportRows(file), [params.sku_column]) }),
    readItems: (from) => readItems(readImportRows(file, from)),
    countRows: () => 1,
    firstLine: ({ line }) => line,
    importItem: (inner, record) => importProduct(inner, params, actorOf(task), record),
    importItems: (inner, records) => importProductBatch(inner, params, actorOf(task), records),
  });
}

async function* readItems(records: AsyncIterable<ImportFileRow>) {
  for await (const record of records) yield { item: record, end: record.end };
}

/** Returns the actor for the stock adjustments that the import creates. */
const actorOf = ({ client_id: clientId, user_id: userId }: ClaimedTask): string => `${clientId}/${userId ?? ''}`;

type KnownProduct = Pick<Product, 'id' | 'currency' | 'version'>;
/** Creates a batch's new products in one step. Imports the other rows one by one. */
async function importProductBatch(
  em: EntityManager,
  params: ProductImportParams,
  actor: string,
  records: readonly ImportFileRow[],
): Promise<ImportOutcome[]> {
  const skus = records.flatMap(({ cells }) => cells.get(params.sku_column) ?? []);
  const existing = await em.find(ProductEntity, { sku: { $in: skus } }, { fields: ['sku'], disableIdentityMap: true });
  const seenSkus = new Set(existing.map(({ sku }) => sku));
  const newProducts = new Map<ImportFileRow, ProductCreate>();
  for (const record of records) {
    const sku = record.cells.get(params.sku_column);
    if (sku === undefined || record.error !== undefined || seenSkus.has(sku)) continue;
    seenSkus.add(sku);
    const product = validateNewProduct(params, record.cells);
    if ('data' in product) newProducts.set(record, product.data);
  }
  if (newProducts.size > 0) await createProducts(em, actor, [...newProducts.values()]);
  const outcomes: ImportOutcome[] = [];
  for (const record of records) {
    outcomes.push(newProducts.has(record) ? { outcome: 'created', issues: [] } : await importProduct(em, params, actor, record));
  }
  return outcomes;
}

const validateNewProduct = (params: ProductImportParams, cells: ReadonlyMap<string, string>) =>
  validateImportRow(productCreateSchema, { category: params.category, ...parseRow(params, cells, undefined) });

async function importProduct(
  em: EntityManager,
  params: ProductImportParams,
  actor: string,
  { line, cells, error: readError }: ImportFileRow,
): Promise<ImportOutcome> {
  const rejected = (...errors: RowError[]): ImportOutcome => ({ outcome: 'refused', issues: errors.map((each) => ({ line, ...each })) });
  if (readError !== undefined) return rejected({ code: 'unreadable', detail: readError });
  const sku = cells.get(params.sku_column);
  const known = sku === undefined ? null : await em.findOne(ProductEntity, { sku }, { disableIdentityMap: true });
  if (!known) {
    const product = validateNewProduct(params, cells);
    if ('errors' in product) return rejected(...product.errors);
    await createProduct(em, actor, product.data);
    return { outcome: 'created', issues: [] };
  }
  const { sku: _, stock: __, currency, ...changes } = parseRow(params, cells, known);
  if (currency !== known.currency)
    return rejected({ field: 'currency', code: 'read_only_field', detail: `The currency is ${known.currency} and cannot be changed.` });
  const update = validateImportRow(productUpdateSchema, changes);
  if ('errors' in update) return rejected(...update.errors);
  try {
    // Each row has its own entity manager. If a row is rejected, its partial changes are discarded along with the entity manager.
    const rowEm = em.fork({ keepTransactionContext: true });
    const { version } = await updateProductByMergePatch(rowEm, await lockProductRow(rowEm, known.id), update.data);
    return { outcome: version === known.version ? 'unchanged' : 'updated', issues: [] };
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_transition')
      return rejected({ field: 'status', code: error.code, detail: error.message });
    throw error;
  }
}

function parseRow(params: ProductImportParams, cells: ReadonlyMap<string, string>, known: KnownProduct | undefined) {
  const currency = cells.get(params.currency_column) ?? known?.currency ?? params.currency;
  return definedFields({
    sku: cells.get(params.sku_column),
    name: cells.get(params.name_column),
    description: cells.get(params.description_column),
    category: cells.get(params.category_column),
    price: parseAmountCell(cells.get(params.price_column), params.amounts, currency),
    currency,
    tax_rate_bps: parseIntegerCell(cells.get(params.tax_rate_bps_column)),
    stock: parseIntegerCell(cells.get(params.stock_column)),
    status: cells.get(params.status_column),
  });
}

/** Returns a row without the fields that the file does not contain. */
const definedFields = <Row extends object>(row: Row): Partial<Row> => {
  const entries = Object.entries(row).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same fields, or fewer
  return Object.fromEntries(entries) as Partial<Row>;
};
