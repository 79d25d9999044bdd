import type { KeysetPosition } from './pagination.ts';

type Direction = 'asc' | 'desc';
type Bound<Direct> = { readonly [Operator in '$gt' | '$gte' | '$lt' | '$lte']?: Direct };
export type AfterPositionFilter<Column extends string> = { readonly [Key in Column]?: Bound<Date> } & {
  readonly $or?: ({ readonly [Key in Column]?: Bound<Date> } | { readonly id: Bound<number> })[];
};

/**
 * Returns the filter for the rows after a position in a list that is sorted by timestamp and then by id. The first condition lets
 * PostgreSQL start an index scan at the position.
 */
export function createKeysetPageFilter<Column extends string>(
  column: Column,
  position: KeysetPosition | undefined,
  direction: Direction,
): AfterPositionFilter<Column> {
  if (!position) return {};
  const at = new Date(position[0]);
  const [after, atOrAfter] = direction === 'asc' ? (['$gt', '$gte'] as const) : (['$lt', '$lte'] as const);
  const bound = (operator: '$gt' | '$gte' | '$lt' | '$lte') => ({ [column]: { [operator]: at } });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column name is the only computed key
  return { ...bound(atOrAfter), $or: [bound(after), { id: { [after]: position[1] } }] } as AfterPositionFilter<Column>;
}
