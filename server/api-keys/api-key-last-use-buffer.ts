import { raw } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { ApiKey } from './api-key.entity.ts';

/** Buffers each key's time of last use and writes the buffered times periodically, so that no request waits for the database. */
export class ApiKeyLastUseBuffer {
  #used = new Map<number, Date>();

  /** Records that a key was used. */
  recordUse(id: number, now: Date): void {
    this.#used.set(id, now);
  }

  /** Writes the buffered times and returns the number of keys updated. */
  async flush(em: EntityManager): Promise<number> {
    const used = this.#used;
    if (used.size === 0) return 0;
    this.#used = new Map();
    for (const [id, at] of used) await em.nativeUpdate(ApiKey, { id }, { lastUsedAt: raw('greatest(last_used_at, ?)', [at]) });
    return used.size;
  }
}
