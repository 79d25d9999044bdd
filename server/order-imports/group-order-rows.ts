import { maxImportRowsPerOrder } from '@mandate/contract';
import type { FilePosition, ImportFileRow } from '../imports/import-row-types-and-cell-normalization.ts';

/** All rows of one order, or a single row that is not part of an order. */
export type OrderRowGroup = {
  readonly reference: string | undefined;
  readonly records: readonly ImportFileRow[];
  /** Number of rows in the group. If this number exceeds the maximum, `records` contains only the first rows. */
  readonly rows: number;
};

/** Maximum number of consecutive rows without a reference that are assigned to the order of the surrounding rows. */
const unnamedMax = 100;

type OpenGroup = { readonly reference: string; readonly records: ImportFileRow[]; rows: number };

/** Adds a row to an order's row group; rows beyond the maximum are only counted. */
export function addRowToOrderRowGroup(invoice: OpenGroup, record: ImportFileRow): void {
  invoice.rows += 1;
  if (invoice.records.length < maxImportRowsPerOrder) invoice.records.push(record);
}

/** Creates an empty row group for an order. */
export const createEmptyOrderRowGroup = (reference: string): OpenGroup => ({ reference, records: [], rows: 0 });

const ungrouped = (record: ImportFileRow): OrderRowGroup => ({ reference: undefined, records: [record], rows: 1 });

/**
 * Groups the adjacent rows of each order. A row without a reference may be a damaged row of the surrounding order. Therefore, it is
 * assigned to this order if the rows before and after it are both part of the order.
 * @param column the column that contains the reference
 */
export async function* groupAdjacentRowsByOrder(
  records: AsyncIterable<ImportFileRow>,
  column: string,
): AsyncGenerator<{ readonly item: OrderRowGroup; readonly end: FilePosition }> {
  let open: OpenGroup | undefined;
  let openEnd: FilePosition | undefined;
  let unnamed: ImportFileRow[] = [];
  const closeGroup = function* () {
    if (open && openEnd) yield { item: open, end: openEnd };
    for (const record of unnamed) yield { item: ungrouped(record), end: record.end };
    [open, unnamed] = [undefined, []];
  };
  for await (const record of records) {
    const reference = record.cells.get(column);
    if (reference === undefined) {
      unnamed.push(record);
      if (!open || unnamed.length > unnamedMax) yield* closeGroup();
      continue;
    }
    if (open?.reference === reference) {
      for (const each of unnamed) addRowToOrderRowGroup(open, each);
      unnamed = [];
    } else {
      yield* closeGroup();
      open = createEmptyOrderRowGroup(reference);
    }
    addRowToOrderRowGroup(open, record);
    openEnd = record.end;
  }
  yield* closeGroup();
}
