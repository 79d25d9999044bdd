import type { StoredFile } from '../imports/file-record.ts';
import { readRecords } from '../imports/record-reader.ts';
import { type ImportPosition, runImport, type Survey } from '../imports/run-import.ts';
import { surveyed } from '../imports/count-records.ts';
import { sizeOfStoredFile } from '../tasks/stored-file.ts';
import { type Outcome, storedInput, type TaskRun } from '../tasks/task-context.ts';
import { importOrder } from './import-order.ts';
import { adjacentInvoices, type Invoice } from './invoice.ts';
import { orderImport, type OrderImport } from './order-import-parameters.ts';
import { partitionRows, readPartition, referenceNumber } from './partition-rows.ts';

/** References that are remembered to find out whether the rows of each order are adjacent. */
const referencesMax = 500_000;

/** Imports the orders of a file, in bounded memory whatever its size. */
export async function importOrders(run: TaskRun): Promise<Outcome> {
  const { task, em } = run;
  const params = orderImport.parse(task.params);
  const file: StoredFile = { em, fileId: storedInput(task), format: params.format, keep: () => run.keep() };
  return runImport(run, {
    dryRun: params.dry_run === 'true',
    survey: () => surveyOrders(file, params),
    piecesFrom: (from, { partitions }) =>
      partitions ? partitionedInvoices(file, params, from, partitions) : adjacentInvoices(readRecords(file, from), params.reference_column),
    rowsOf: ({ rows }) => rows,
    lineOf: ({ records }) => records[0]?.line,
    importPiece: (inner, invoice) => importOrder(inner, params, task, invoice),
  });
}

/** Checks the file. If the rows of an order are not adjacent, or too many orders to tell, their rows are brought together first. */
async function surveyOrders(file: StoredFile, params: OrderImport): Promise<Survey> {
  const needed = [params.reference_column, params.created_at_column, params.sku_column, params.quantity_column, params.unit_price_column];
  const seen = new Set<number>();
  let [total, isScattered] = [0, false];
  for await (const { piece } of adjacentInvoices(surveyed(readRecords(file), needed), params.reference_column)) {
    total += piece.rows;
    if (piece.reference === undefined || isScattered) continue;
    const number = referenceNumber(piece.reference);
    isScattered = seen.has(number) || seen.size === referencesMax;
    if (isScattered) seen.clear();
    else seen.add(number);
  }
  if (!isScattered) return { total };
  const bytes = await sizeOfStoredFile(file.em, file.fileId);
  return { total, partitions: await partitionRows(file.em, readRecords(file), bytes, columnsOf(params)) };
}

/** Columns of the file that an import reads; first the one with the reference. */
function columnsOf(params: OrderImport): [string, ...string[]] {
  const columns = new Set(Object.entries(params).flatMap(([name, value]) => (name.endsWith('_column') ? [String(value)] : [])));
  columns.delete(params.reference_column);
  return [params.reference_column, ...columns];
}

async function* partitionedInvoices(
  { em, keep }: StoredFile,
  params: OrderImport,
  from: ImportPosition,
  partitions: readonly number[],
): AsyncGenerator<{ readonly piece: Invoice; readonly end: ImportPosition }> {
  const { partition: first = 0, pieces: done = 0 } = from;
  for (const [at, fileId] of partitions.entries()) {
    if (at < first) continue;
    const invoices = await readPartition(em, fileId, columnsOf(params));
    await keep();
    for (const [nth, piece] of invoices.entries()) {
      if (at === first && nth < done) continue;
      yield { piece, end: { bytes: 0, lines: 0, partition: at, pieces: nth + 1 } };
    }
  }
}
