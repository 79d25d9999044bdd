import { z } from 'zod';

/** Stands for something that an earlier answer spoke of: an id, a cursor, a version. Which one is decided when the request leaves. */
export class Known {
  readonly kind: string;
  readonly at: number;

  constructor(kind: string, at: number) {
    this.kind = kind;
    this.at = at;
  }
}

const keptOfEachKind = 200;
/** Of what nobody has spoken of yet. */
const firstId = 1;
/** What has its own name, and is worth sending back; all that ends in `_id` is as well. */
const names = new Set(['cursor', 'sku', 'email', 'code', 'reference', 'etag', 'key']);
const isWorthKeeping = (name: string): boolean => name.endsWith('_id') || names.has(name);

/** Of which kind the things of a path are: `/orders` has an `order_id`. */
function kindOf(path: string): string {
  const segment =
    path
      .split('?', 1)[0]
      ?.split('/')
      .findLast((part) => /^[a-z-]+$/.test(part)) ?? '';
  if (/^(order|product)-(imports|exports)$/.test(segment)) return 'task_id';
  return `${segment.replaceAll('-', '_').replace(/s$/, '')}_id`;
}

const value = z.union([z.number(), z.string()]);

/** What the answers of one server have spoken of so far. */
export class KnownThings {
  readonly #found = new Map<string, (number | string)[]>();

  keep(kind: string, found: unknown): void {
    const kept = value.safeParse(found);
    if (!kept.success || kept.data === '') return;
    const all = this.#found.get(kind) ?? [];
    this.#found.set(kind, all);
    if (all.length < keptOfEachKind) all.push(kept.data);
    else all[Math.floor(Math.random() * keptOfEachKind)] = kept.data;
  }

  /** Looks through an answer of 2xx. */
  learn(path: string, body: unknown, etag: string | null): void {
    if (etag !== null) this.keep('etag', etag);
    this.#walk(kindOf(path), body, 0);
  }

  #walk(kind: string, body: unknown, depth: number): void {
    if (typeof body !== 'object' || body === null || depth > 4) return;
    for (const [name, part] of Object.entries(body)) {
      if (name === 'id' && !Array.isArray(body)) this.keep(kind, part);
      else if (name === 'next_cursor') this.keep('cursor', part);
      else if (isWorthKeeping(name)) this.keep(name, part);
      else this.#walk(kind, part, depth + 1);
    }
  }

  resolve({ kind, at }: Known): number | string {
    const all = this.#found.get(kind) ?? [];
    return all[at % Math.max(all.length, 1)] ?? firstId;
  }

  /** A copy of what was generated with what is known in place of what stands for it. */
  inPlace(generated: unknown): unknown {
    if (generated instanceof Known) return this.resolve(generated);
    if (Array.isArray(generated)) return generated.map((part) => this.inPlace(part));
    if (typeof generated !== 'object' || generated === null) return generated;
    return Object.fromEntries(Object.entries(generated).map(([name, part]) => [name, this.inPlace(part)]));
  }
}
