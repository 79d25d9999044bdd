import { contract, fileFormats, taxModes } from '@mandate/contract';
import { z } from 'zod';
import { type FileRecord, recordsOf } from '../imports/read-records.ts';
import { runImport } from '../imports/run-import.ts';
import { survey } from '../imports/survey.ts';
import { type Outcome, storedInput, type TaskRun } from '../tasks/task-run.ts';
import { importOrder, type Invoice } from './import-order.ts';

const orderImport = contract.orderImports.create.query.extend({
  format: z.enum(fileFormats),
  tax_mode: z.enum(taxModes),
  user_id: z.number().optional(),
});
export type OrderImport = z.output<typeof orderImport>;

/** Brings in the orders of a file, each as soon as its last row has been read. */
export async function importOrders(run: TaskRun): Promise<Outcome> {
  const { task, em } = run;
  const params = orderImport.parse(task.params);
  const read = (): AsyncGenerator<FileRecord> => recordsOf(em, storedInput(task), params.format);
  const lastRows = new Map<string, number>();
  const needed = [params.reference_column, params.created_at_column, params.sku_column, params.quantity_column, params.unit_price_column];
  const total = await survey(read(), needed, ({ cells }, at) => {
    const reference = cells?.get(params.reference_column);
    if (reference !== undefined) lastRows.set(reference, at);
  });
  return runImport(run, {
    dryRun: params.dry_run === 'true',
    total,
    pieces: invoices(read(), params.reference_column, lastRows),
    rowsOf: ({ records }) => records.length,
    lineOf: ({ records }) => records[0]?.line,
    importPiece: (inner, invoice) => importOrder(inner, params, task, invoice),
  });
}

/** Rows of one reference belong together, wherever they stand in the file. */
async function* invoices(
  records: AsyncIterable<FileRecord>,
  column: string,
  lastRows: ReadonlyMap<string, number>,
): AsyncGenerator<Invoice> {
  const open = new Map<string, FileRecord[]>();
  let at = 0;
  for await (const record of records) {
    const reference = record.cells?.get(column);
    if (reference === undefined) {
      yield { reference: undefined, records: [record] };
    } else {
      const rows = open.get(reference) ?? [];
      rows.push(record);
      open.set(reference, rows);
      if (lastRows.get(reference) === at) {
        open.delete(reference);
        yield { reference, records: rows };
      }
    }
    at += 1;
  }
}
