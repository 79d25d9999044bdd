import type { Finding } from './fuzz.ts';
import type { Operation } from './openapi-operations.ts';

/** Counts responses by operation and status. */
export class ResponseCounts {
  readonly #counts = new Map<string, Map<number, number>>();
  total = 0;

  count({ id }: Operation, status: number): void {
    const row = this.#counts.get(id) ?? new Map<number, number>();
    this.#counts.set(id, row);
    row.set(status, (row.get(status) ?? 0) + 1);
    this.total += 1;
  }

  /** Formats a table of operations and statuses with totals. */
  table(): string {
    const statuses = [...new Set([...this.#counts.values()].flatMap((row) => [...row.keys()]))].toSorted((a, b) => a - b);
    const rows = [...this.#counts].toSorted(([a], [b]) => a.localeCompare(b));
    const sums = statuses.map((status) => rows.reduce((sum, [, row]) => sum + (row.get(status) ?? 0), 0));
    const line = (name: string, numbers: readonly (number | string | undefined)[]): string =>
      `${name.padEnd(38)}${numbers.map((number) => String(number ?? '').padStart(7)).join('')}`;
    const of = (row: ReadonlyMap<number, number>): number => [...row.values()].reduce((sum, count) => sum + count, 0);
    return [
      line('operation', [...statuses, 'all']),
      ...rows.map(([name, row]) => line(name, [...statuses.map((status) => row.get(status)), of(row)])),
      line('all', [...sums, this.total]),
    ].join('\n');
  }
}

export const formatFinding = ({ operation, fault, request, seed, index }: Finding): string =>
  `${operation}: ${fault}\n  ${request}\n  reproduce: npm run fuzz -- --seed ${seed} --only ${index}\n`;
