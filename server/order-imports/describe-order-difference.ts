import type { ImportedOrderState } from './compare-with-earlier-order-import.ts';
import type { ImportedOrderFields, ImportedOrderLine } from './parse-order-row.ts';

export type OrderDifference = {
  /** Index of the first line that differs; 0 if the difference affects the whole order. */
  readonly at: number;
  readonly field?: string;
  readonly detail: string;
};

const shownMax = 3;

/** Describes how an order in a file differs from the same order in an earlier import. Returns `undefined` if no difference is found. */
export function describeDifferenceToEarlierImport(
  head: ImportedOrderFields,
  lines: readonly ImportedOrderLine[],
  imported: ImportedOrderState,
): OrderDifference | undefined {
  const inLines = lineDifferences(lines, imported.lines);
  const inHead = headDifferences(head, imported);
  const all = [...countDifference(lines, imported.lines), ...inLines, ...inHead];
  const [first] = [...inLines, ...inHead, ...all];
  if (!first) return undefined;
  const more = all.length - shownMax;
  const shown = all.slice(0, shownMax).map(({ detail }) => detail);
  return { ...first, detail: [...shown, ...(more > 0 ? [`${more} more differences`] : [])].join('; ') };
}

const countDifference = (lines: readonly ImportedOrderLine[], imported: readonly ImportedOrderLine[]): OrderDifference[] =>
  lines.length === imported.length ? [] : [{ at: 0, detail: `the number of lines is ${lines.length} instead of ${imported.length}` }];

const lineFields = ['sku', 'name', 'quantity', 'unit_price', 'tax_rate_bps'] as const;

function lineDifferences(lines: readonly ImportedOrderLine[], imported: readonly ImportedOrderLine[]): OrderDifference[] {
  const common = Math.min(lines.length, imported.length);
  const changed = lines.slice(0, common).flatMap((line, at) => lineFields.flatMap((field) => changedField(field, line, imported[at], at)));
  const added = lines.length > common ? [{ at: common, detail: `line ${common + 1} is new` }] : [];
  const missing = imported[common] ? [{ at: 0, detail: `line ${common + 1} (${imported[common].sku}) is missing from the file` }] : [];
  return [...changed, ...added, ...missing];
}

function changedField(
  field: (typeof lineFields)[number],
  line: ImportedOrderLine,
  before: ImportedOrderLine | undefined,
  at: number,
): OrderDifference[] {
  if (!before || line[field] === before[field]) return [];
  return [{ at, field, detail: `${field} of line ${at + 1} is ${formatValue(line[field])} instead of ${formatValue(before[field])}` }];
}

function headDifferences(head: ImportedOrderFields, imported: ImportedOrderState): OrderDifference[] {
  const createdMs = Date.parse(head.created_at);
  const key = head.customer ?? head.customer_email;
  const pairs: (readonly [field: string, now: unknown, before: unknown])[] = [
    // Stored timestamps are rounded to milliseconds.
    ...(Math.abs(createdMs - imported.created_ms) <= 1
      ? []
      : [['created_at', head.created_at, new Date(imported.created_ms).toISOString()] as const]),
    ['currency', head.currency, imported.currency],
    ['shipping_total', head.shipping_total, imported.shipping_total],
    ['discount_total', head.discount_total, imported.discount_total],
  ];
  // If the order has no fingerprint, only fields that never change are compared, because other fields may have changed since the import.
  if (imported.fingerprint !== null) {
    pairs.push(['status', head.status, imported.status], ['note', head.note ?? null, imported.note]);
    for (const name of new Set([...Object.keys(head.delivery), ...Object.keys(imported.delivery)])) {
      pairs.push([name === 'method' ? 'delivery_method' : name, Reflect.get(head.delivery, name) ?? null, imported.delivery[name] ?? null]);
    }
    if (key !== undefined && !imported.customers.includes(key)) pairs.push(['customer', key, imported.customers[0] ?? null]);
  }
  return pairs
    .filter(([, now, before]) => now !== before)
    .map(([field, now, before]) => ({ at: 0, field, detail: `${field} is ${formatValue(now)} instead of ${formatValue(before)}` }));
}

/** Formats a stored value; amounts are in minor units. */
const formatValue = (value: unknown): string => (value === null ? 'empty' : JSON.stringify(value));
