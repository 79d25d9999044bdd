import type { ImportIssue, ImportOutcome } from '../imports/run-import.ts';
import type { OrderImportParams } from './order-import-parameters.ts';
import type { OrderRowGroup } from './group-order-rows.ts';
import {
  parseOrderFieldsFromRow,
  parseOrderLineFromRow,
  type ImportedOrderFields,
  type ImportedOrderLine,
  findLineCountTotalOrDiscountError,
} from './parse-order-row.ts';

/** An order parsed from its rows. */
export type ParsedOrder = {
  /** Line number for errors that affect the whole order. */
  readonly line: number;
  readonly head: ImportedOrderFields;
  readonly lines: readonly ImportedOrderLine[];
  /** Line number in the file for each order line. */
  readonly lineNumbers: readonly number[];
  readonly issues: readonly ImportIssue[];
};

/** Parses the rows of an order. The import parameters determine whether invalid lines are omitted or the whole order is rejected. */
export function parseOrderFromRows(params: OrderImportParams, { reference, records }: OrderRowGroup): ParsedOrder | ImportOutcome {
  const issues: ImportIssue[] = [];
  const orderReference = reference === undefined ? {} : { reference };
  const valid: { line: number; data: ImportedOrderLine; cells: ReadonlyMap<string, string> }[] = [];
  for (const { line, cells, error } of records) {
    const read = error === undefined ? parseOrderLineFromRow(params, cells) : { errors: [{ code: 'unreadable', detail: error }] };
    const isMissing = error === undefined && !cells.has(params.reference_column);
    const missing = isMissing ? [{ field: 'reference', code: 'required', detail: 'The row has no reference.' }] : [];
    const errors = [...missing, ...('errors' in read ? read.errors : [])];
    issues.push(...errors.map((each) => ({ line, ...orderReference, ...each })));
    if ('data' in read && errors.length === 0) valid.push({ line, data: read.data, cells });
  }
  const [first] = valid;
  if (!first || (params.bad_lines === 'refuse_order' && issues.length > 0)) return { outcome: 'refused', issues };
  const head = parseOrderFieldsFromRow(params, first.cells);
  const lines = valid.map(({ data }) => data);
  const errors =
    'errors' in head ? head.errors : [findLineCountTotalOrDiscountError(lines, head.data)].filter((error) => error !== undefined);
  if ('errors' in head || errors.length > 0) {
    return { outcome: 'refused', issues: [...issues, ...errors.map((error) => ({ line: first.line, ...orderReference, ...error }))] };
  }
  return { line: first.line, head: head.data, lines, lineNumbers: valid.map(({ line }) => line), issues };
}
