import type { Remark, Verdict } from '../imports/run-import.ts';
import type { OrderImport } from './order-import-parameters.ts';
import type { Invoice } from './invoice.ts';
import { headOf, lineOf, type OrderHead, type OrderLine, sumMistake } from './parse-order-row.ts';

/** An order as its rows have it. */
export type ReadInvoice = {
  /** Where a mistake of the order as a whole is reported. */
  readonly line: number;
  readonly head: OrderHead;
  readonly lines: readonly OrderLine[];
  /** The line of the file for each line of the order. */
  readonly lineNumbers: readonly number[];
  readonly remarks: readonly Remark[];
};

/** Reads the rows of an order, as far as the rules of the import let lines be left out. */
export function readInvoice(params: OrderImport, { reference, records }: Invoice): ReadInvoice | Verdict {
  const remarks: Remark[] = [];
  const named = reference === undefined ? {} : { reference };
  const good: { line: number; data: OrderLine; cells: ReadonlyMap<string, string> }[] = [];
  for (const { line, cells, mistake } of records) {
    const read = mistake === undefined ? lineOf(params, cells) : { mistakes: [{ code: 'unreadable', detail: mistake }] };
    const isMissing = mistake === undefined && !cells.has(params.reference_column);
    const missing = isMissing ? [{ field: 'reference', code: 'required', detail: 'The row has no reference.' }] : [];
    const mistakes = [...missing, ...('mistakes' in read ? read.mistakes : [])];
    remarks.push(...mistakes.map((each) => ({ line, ...named, ...each })));
    if ('data' in read && mistakes.length === 0) good.push({ line, data: read.data, cells });
  }
  const [first] = good;
  if (!first || (params.bad_lines === 'refuse_order' && remarks.length > 0)) return { outcome: 'refused', remarks };
  const head = headOf(params, first.cells);
  const lines = good.map(({ data }) => data);
  const mistakes = 'mistakes' in head ? head.mistakes : [sumMistake(lines, head.data)].filter((mistake) => mistake !== undefined);
  if ('mistakes' in head || mistakes.length > 0) {
    return { outcome: 'refused', remarks: [...remarks, ...mistakes.map((mistake) => ({ line: first.line, ...named, ...mistake }))] };
  }
  return { line: first.line, head: head.data, lines, lineNumbers: good.map(({ line }) => line), remarks };
}
