import type { ImportFile } from '../imports/import-row-types-and-cell-normalization.ts';
import { readImportRows } from '../imports/read-import-rows.ts';
import { type ImportPosition, runImport, type FileCheckResult } from '../imports/run-import.ts';
import { validateAndYieldRows } from '../imports/validate-and-count-rows.ts';
import { readStoredFileSize } from '../tasks/stored-task-file.ts';
import { type TaskOutcome, requireTaskInputFileId, type TaskAttempt } from '../tasks/task-attempt.ts';
import { importOrder } from './import-order.ts';
import { groupAdjacentRowsByOrder, type OrderRowGroup } from './group-order-rows.ts';
import { orderImportTaskParamsSchema, type OrderImportParams } from './order-import-parameters.ts';
import { storeRowsInPartitionsByOrder, readOrderRowGroupsOfPartition, hashOrderReference } from './partition-rows-by-order.ts';

/** Maximum number of references kept in memory to detect whether the rows of each order are adjacent. */
const referencesMax = 500_000;

/** Imports the orders in a file, using bounded memory regardless of the file size. */
export async function importOrders(run: TaskAttempt): Promise<TaskOutcome> {
  const { task, em } = run;
  const params = orderImportTaskParamsSchema.parse(task.params);
  const file: ImportFile = { em, fileId: requireTaskInputFileId(task), format: params.format, renewLease: () => run.renewLease() };
  return runImport(run, {
    dryRun: params.dry_run === 'true',
    checkFile: () => checkOrderFile(file, params),
    readItems: (from, { partitions }) =>
      partitions
        ? partitionedInvoices(file, params, from, partitions)
        : groupAdjacentRowsByOrder(readImportRows(file, from), params.reference_column),
    countRows: ({ rows }) => rows,
    firstLine: ({ records }) => records[0]?.line,
    importItem: (inner, invoice) => importOrder(inner, params, task, invoice),
  });
}

/**
 * Checks the file and counts its rows. If the rows of an order are not adjacent, or if the file contains too many orders for this check,
 * regroups the rows into partitions.
 */
async function checkOrderFile(file: ImportFile, params: OrderImportParams): Promise<FileCheckResult> {
  const needed = [params.reference_column, params.created_at_column, params.sku_column, params.quantity_column, params.unit_price_column];
  const seen = new Set<number>();
  let [total, isScattered] = [0, false];
  for await (const { item } of groupAdjacentRowsByOrder(validateAndYieldRows(readImportRows(file), needed), params.reference_column)) {
    total += item.rows;
    if (item.reference === undefined || isScattered) continue;
    const number = hashOrderReference(item.reference);
    isScattered = seen.has(number) || seen.size === referencesMax;
    if (isScattered) seen.clear();
    else seen.add(number);
  }
  if (!isScattered) return { total };
  const bytes = await readStoredFileSize(file.em, file.fileId);
  return { total, partitions: await storeRowsInPartitionsByOrder(file.em, readImportRows(file), bytes, importedColumns(params)) };
}

/** Returns the file columns that the import reads, starting with the reference column. */
function importedColumns(params: OrderImportParams): [string, ...string[]] {
  const columns = new Set(Object.entries(params).flatMap(([name, value]) => (name.endsWith('_column') ? [String(value)] : [])));
  columns.delete(params.reference_column);
  return [params.reference_column, ...columns];
}

async function* partitionedInvoices(
  { em, renewLease }: ImportFile,
  params: OrderImportParams,
  from: ImportPosition,
  partitions: readonly number[],
): AsyncGenerator<{ readonly item: OrderRowGroup; readonly end: ImportPosition }> {
  const { partition: first = 0, pieces: done = 0 } = from;
  for (const [at, fileId] of partitions.entries()) {
    if (at < first) continue;
    const invoices = await readOrderRowGroupsOfPartition(em, fileId, importedColumns(params));
    await renewLease();
    for (const [index, item] of invoices.entries()) {
      if (at === first && index < done) continue;
      yield { item, end: { bytes: 0, lines: 0, partition: at, pieces: index + 1 } };
    }
  }
}
