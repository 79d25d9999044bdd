import { contract, fileFormats, productCreate, productUpdate, type Product } from '@mandate/contract';
import { z } from 'zod';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { Problem } from '../http/problem-details/problem.ts';
import { amount, checked, integer, type Mistake } from '../imports/parse-cells.ts';
import type { FileRecord } from '../imports/file-record.ts';
import type { StoredFile } from '../imports/file-record.ts';
import { readRecords } from '../imports/record-reader.ts';
import { runImport, type Verdict } from '../imports/run-import.ts';
import { survey } from '../imports/count-records.ts';
import { createProduct } from '../products/create-product.ts';
import { lockProduct, patchProduct } from '../products/update-product.ts';
import { type ClaimedTask, type Outcome, storedInput, type TaskRun } from '../tasks/task-context.ts';

const productImport = contract.productImports.create.query.extend({ format: z.enum(fileFormats) });
type ProductImport = z.output<typeof productImport>;

/** Creates what is new, and changes what is there, row by row. */
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
  });
}

async function* piecesOf(records: AsyncIterable<FileRecord>) {
  for await (const piece of records) yield { piece, end: piece.end };
}

/** Who changes the stock of what the import creates. */
const actorOf = ({ client_id: clientId, user_id: userId }: ClaimedTask): string => `${clientId}/${userId ?? ''}`;

type Known = Pick<Product, 'id' | 'currency' | 'version'>;
const findBySku = statement<Known>('find_imported_product', 'select id, currency, version from products where sku = $1');

async function importProduct(em: Em, params: ProductImport, actor: string, { line, cells, mistake }: FileRecord): Promise<Verdict> {
  const refused = (...mistakes: Mistake[]): Verdict => ({ outcome: 'refused', remarks: mistakes.map((each) => ({ line, ...each })) });
  if (mistake !== undefined) return refused({ code: 'unreadable', detail: mistake });
  const sku = cells.get(params.sku_column);
  const [known] = sku === undefined ? [] : await findBySku(em, [sku]);
  const row = rowOf(params, cells, known);
  if (!known) {
    const product = checked(productCreate, { category: params.category, ...row });
    if ('mistakes' in product) return refused(...product.mistakes);
    await createProduct(em, actor, product.data);
    return { outcome: 'created', remarks: [] };
  }
  const { sku: _, stock: __, currency, ...changes } = row;
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
