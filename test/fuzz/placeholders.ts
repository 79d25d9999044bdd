import { z } from 'zod';

/**
 * Placeholder for a value from an earlier response, such as an ID, a cursor or a version. The placeholder is replaced just before the
 * request is sent.
 */
export class Placeholder {
  readonly kind: string;
  readonly at: number;

  constructor(kind: string, at: number) {
    this.kind = kind;
    this.at = at;
  }
}

const valuesPerKindMax = 200;
/** ID that replaces a placeholder if no value of the required kind is known. */
const firstId = 1;
/** Names of properties whose values are reused, in addition to all names that end in `_id`. */
const names = new Set(['cursor', 'sku', 'email', 'code', 'reference', 'etag', 'key']);
const isReusable = (name: string): boolean => name.endsWith('_id') || names.has(name);

/** Returns the kind of ID that a path's resources have, such as `order_id` for `/orders`. */
function findingKind(path: string): string {
  const segment =
    path
      .split('?', 1)[0]
      ?.split('/')
      .findLast((part) => /^[a-z-]+$/.test(part)) ?? '';
  if (/^(order|product)-(imports|exports)$/.test(segment)) return 'task_id';
  return `${segment.replaceAll('-', '_').replace(/s$/, '')}_id`;
}

const value = z.union([z.number(), z.string()]);

/** Values from a single server's responses. */
export class KnownValues {
  readonly #found = new Map<string, (number | string)[]>();

  keep(kind: string, found: unknown): void {
    const kept = value.safeParse(found);
    if (!kept.success || kept.data === '') return;
    const all = this.#found.get(kind) ?? [];
    this.#found.set(kind, all);
    if (all.length < valuesPerKindMax) all.push(kept.data);
    else all[Math.floor(Math.random() * valuesPerKindMax)] = kept.data;
  }

  /** Collects values from a successful response. */
  learn(path: string, body: unknown, etag: string | null): void {
    if (etag !== null) this.keep('etag', etag);
    this.#walk(findingKind(path), body, 0);
  }

  #walk(kind: string, body: unknown, depth: number): void {
    if (typeof body !== 'object' || body === null || depth > 4) return;
    for (const [name, part] of Object.entries(body)) {
      if (name === 'id' && !Array.isArray(body)) this.keep(kind, part);
      else if (name === 'next_cursor') this.keep('cursor', part);
      else if (isReusable(name)) this.keep(name, part);
      else this.#walk(kind, part, depth + 1);
    }
  }

  resolve({ kind, at }: Placeholder): number | string {
    const all = this.#found.get(kind) ?? [];
    return all[at % Math.max(all.length, 1)] ?? firstId;
  }

  /** Returns a copy of a generated value with all placeholders replaced. */
  resolveReferences(generated: unknown): unknown {
    if (generated instanceof Placeholder) return this.resolve(generated);
    if (Array.isArray(generated)) return generated.map((part) => this.resolveReferences(part));
    if (typeof generated !== 'object' || generated === null) return generated;
    return Object.fromEntries(Object.entries(generated).map(([name, part]) => [name, this.resolveReferences(part)]));
  }
}
