import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { writeLastUse } from './write-last-use.sql.ts';

/** Buffers each key's time of last use and writes the buffered times periodically, so that no request waits for the database. */
export class ApiKeyUseBuffer {
  #used = new Map<number, Date>();

  /** Records a use of a key. */
  recordUse(id: number, now: Date): void {
    this.#used.set(id, now);
  }

  /** Writes the buffered times and returns the number of keys updated. */
  async flush(em: EntityManager): Promise<number> {
    const used = this.#used;
    if (used.size === 0) return 0;
    this.#used = new Map();
    await writeLastUse(em, [[...used.keys()], [...used.values()].map((at) => at.toISOString())]);
    return used.size;
  }
}
