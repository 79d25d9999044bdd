import type { Remark, Verdict } from '../imports/run-import.ts';
import type { OrderImport } from './order-import-parameters.ts';
import type { Invoice } from './invoice.ts';
import { headOf, lineOf, type OrderHead, type OrderLine, sumMistake } from './parse-order-row.ts';

/** An order parsed from its rows. */
export type ReadInvoice = {
  /** The line of the file at which errors of the whole order are reported. */
  readonly line: number;
  readonly head: OrderHead;
  readonly lines: readonly OrderLine[];
  /** The line in the file of each order line. */
  readonly lineNumbers: readonly number[];
  readonly issues: readonly Remark[];
};

/** Parses the rows of an order. Depending on the import parameters, invalid lines are left out or make the order fail. */
export function readInvoice(params: OrderImport, { reference, records }: Invoice): ReadInvoice | Verdict {
  const issues: Remark[] = [];
  const orderReference = reference === undefined ? {} : { reference };
  const valid: { line: number; data: OrderLine; cells: ReadonlyMap<string, string> }[] = [];
  for (const { line, cells, error } of records) {
    const read = error === undefined ? lineOf(params, cells) : { errors: [{ code: 'unreadable', detail: error }] };
    const isMissing = error === undefined && !cells.has(params.reference_column);
    const missing = isMissing ? [{ field: 'reference', code: 'required', detail: 'The row has no reference.' }] : [];
    const errors = [...missing, ...('errors' in read ? read.errors : [])];
    issues.push(...errors.map((each) => ({ line, ...orderReference, ...each })));
    if ('data' in read && errors.length === 0) valid.push({ line, data: read.data, cells });
  }
  const [first] = valid;
  if (!first || (params.bad_lines === 'refuse_order' && issues.length > 0)) return { outcome: 'refused', issues };
  const head = headOf(params, first.cells);
  const lines = valid.map(({ data }) => data);
  const errors = 'errors' in head ? head.errors : [sumMistake(lines, head.data)].filter((error) => error !== undefined);
  if ('errors' in head || errors.length > 0) {
    return { outcome: 'refused', issues: [...issues, ...errors.map((error) => ({ line: first.line, ...orderReference, ...error }))] };
  }
  return { line: first.line, head: head.data, lines, lineNumbers: valid.map(({ line }) => line), issues };
}
