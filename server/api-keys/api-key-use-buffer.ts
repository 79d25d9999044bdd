import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';

const writeLastUse = statement(
  'write_last_use',
  `update api_keys k set last_used_at = greatest(k.last_used_at, used.at)
   from unnest($1::bigint[], $2::timestamptz[]) as used (id, at) where k.id = used.id`,
);

/** When each key was last used: remembered here, and written now and then, so that no request waits for it. */
export class LastUse {
  #used = new Map<number, Date>();

  note(id: number, now: Date): void {
    this.#used.set(id, now);
  }

  /** Writes what was noted since the last time, and says how many keys that was. */
  async write(em: Em): Promise<number> {
    const used = this.#used;
    if (used.size === 0) return 0;
    this.#used = new Map();
    await writeLastUse(em, [[...used.keys()], [...used.values()].map((at) => at.toISOString())]);
    return used.size;
  }
}
