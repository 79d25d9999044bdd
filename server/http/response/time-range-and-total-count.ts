import { maxCountedTotal } from '@mandate/contract';
import { createInvalidRequestProblem } from '../problem-details/problem.ts';
import { translatable } from '../problem-details/translatable-text.ts';

/** Rejects a range whose end precedes its start. */
export function rejectReversedTimeRange<Name extends string>(
  query: Partial<Record<Name, string | number | undefined>>,
  from: Name,
  to: Name,
): void {
  const [begin, end] = [query[from], query[to]];
  if (begin === undefined || end === undefined || comparable(begin) <= comparable(end)) return;
  throw createInvalidRequestProblem({
    in: 'query',
    parameter: from,
    code: 'conflicting_parameters',
    detail: translatable`${{ from }} must not be after ${{ to }}.`,
  });
}

const comparable = (value: string | number): number => (typeof value === 'string' ? Date.parse(value) : value);

/** Returns the fields that `include_total=true` adds to a page. `count` does not need to count beyond `maxCountedTotal + 1`. */
export async function createTotalCountFields(
  query: { include_total?: 'true' | 'false' | undefined },
  count: () => Promise<number>,
): Promise<object> {
  if (query.include_total !== 'true') return {};
  const counted = await count();
  return { total_count: Math.min(counted, maxCountedTotal), total_count_capped: counted > maxCountedTotal };
}
