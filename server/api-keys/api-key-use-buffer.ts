import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';

const writeLastUse = prepareStatement(
  'update_api_key_last_used',
  `update api_keys k set last_used_at = greatest(k.last_used_at, used.at)
   from unnest($1::bigint[], $2::timestamptz[]) as used (id, at) where k.id = used.id`,
);

/** Buffers the time of last use of each key and writes it periodically, so that no request waits for the database. */
export class ApiKeyUseBuffer {
  #used = new Map<number, Date>();

  /** Records the use of a key. */
  recordUse(id: number, now: Date): void {
    this.#used.set(id, now);
  }

  /** Writes the buffered times and returns the number of keys. */
  async flush(em: EntityManager): Promise<number> {
    const used = this.#used;
    if (used.size === 0) return 0;
    this.#used = new Map();
    await writeLastUse(em, [[...used.keys()], [...used.values()].map((at) => at.toISOString())]);
    return used.size;
  }
}
