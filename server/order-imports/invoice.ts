import { importOrderRowsMax } from '@mandate/contract';
import type { FilePosition, FileRecord } from '../imports/file-record.ts';

/** The rows of one order; or one row that belongs to no order. */
export type Invoice = {
  readonly reference: string | undefined;
  readonly records: readonly FileRecord[];
  /** Rows in the file; more than `records` if there are more than an order can have. */
  readonly rows: number;
};

/** Rows between two rows of an order that belong to it although they do not say so. */
const unnamedMax = 100;

type OpenInvoice = { readonly reference: string; readonly records: FileRecord[]; rows: number };

export function addRow(invoice: OpenInvoice, record: FileRecord): void {
  invoice.rows += 1;
  if (invoice.records.length < importOrderRowsMax) invoice.records.push(record);
}

export const newInvoice = (reference: string): OpenInvoice => ({ reference, records: [], rows: 0 });

const single = (record: FileRecord): Invoice => ({ reference: undefined, records: [record], rows: 1 });

/**
 * Joins the adjacent rows of each order. A row without a reference belongs to an order if the rows before and after it do: it may be a
 * damaged row of that order.
 * @param column the column with the reference
 */
export async function* adjacentInvoices(
  records: AsyncIterable<FileRecord>,
  column: string,
): AsyncGenerator<{ readonly piece: Invoice; readonly end: FilePosition }> {
  let open: OpenInvoice | undefined;
  let openEnd: FilePosition | undefined;
  let unnamed: FileRecord[] = [];
  const closed = function* () {
    if (open && openEnd) yield { piece: open, end: openEnd };
    for (const record of unnamed) yield { piece: single(record), end: record.end };
    [open, unnamed] = [undefined, []];
  };
  for await (const record of records) {
    const reference = record.cells.get(column);
    if (reference === undefined) {
      unnamed.push(record);
      if (!open || unnamed.length > unnamedMax) yield* closed();
      continue;
    }
    if (open?.reference === reference) {
      for (const each of unnamed) addRow(open, each);
      unnamed = [];
    } else {
      yield* closed();
      open = newInvoice(reference);
    }
    addRow(open, record);
    openEnd = record.end;
  }
  yield* closed();
}
