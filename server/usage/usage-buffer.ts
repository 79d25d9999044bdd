import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { addToMonthlyUsage } from './add-to-monthly-usage.sql.ts';
import { getCalendarMonth } from './calendar-month.ts';
import { UsageMonth } from './usage-month.entity.ts';

type BufferedMonth = {
  readonly clientId: string;
  readonly month: string;
  /** The last known count of the database, including requests of other processes. */
  written: number;
  /** Requests that are being written to the database. */
  writing: number;
  /** Requests counted here that have not been written yet. */
  fresh: number;
  /** Whether the client has sent a request since the last write. */
  used: boolean;
};

/**
 * Counts the requests of each application and API key in the current month in memory and writes the counts periodically, so that no request
 * waits for the database. Each process learns the counts of other processes when it writes. A killed process loses the counts of a few
 * seconds that it has not written.
 */
export class MonthlyUsageBuffer {
  #months = new Map<string, BufferedMonth>();
  #reading = new Map<string, Promise<BufferedMonth>>();

  /** Counts a request, if `counts` is true and the limit is not reached, and returns the current number of requests. */
  async countRequest(
    em: EntityManager,
    clientId: string,
    limit: number,
    counts: boolean,
    now: Date,
  ): Promise<{ requests: number; exceeded: boolean }> {
    const month = await this.#month(em, clientId, getCalendarMonth(now).name);
    month.used = true;
    const before = month.written + month.writing + month.fresh;
    const exceeded = counts && before >= limit;
    if (counts && !exceeded) month.fresh += 1;
    return { requests: month.written + month.writing + month.fresh, exceeded };
  }

  /** Writes the counts since the last write, and removes clients without requests since then. */
  async flush(em: EntityManager): Promise<void> {
    const known = [...this.#months.values()];
    const unwritten = known.filter(({ fresh }) => fresh > 0);
    for (const month of known) {
      if (!month.used && month.fresh === 0) this.#months.delete(bufferKey(month.clientId, month.month));
      month.used = false;
      [month.writing, month.fresh] = [month.fresh, 0];
    }
    if (unwritten.length === 0) return;
    try {
      const columns = [
        unwritten.map(({ clientId }) => clientId),
        unwritten.map(({ month }) => month),
        unwritten.map(({ writing }) => writing),
      ];
      const totals = new Map((await addToMonthlyUsage(em, columns)).map((row) => [bufferKey(row.client_id, row.month), row.requests]));
      for (const month of unwritten) [month.written, month.writing] = [totals.get(bufferKey(month.clientId, month.month)) ?? 0, 0];
    } catch (error) {
      for (const month of unwritten) [month.fresh, month.writing] = [month.fresh + month.writing, 0];
      throw error;
    }
  }

  /** Returns the month of a client, read from the database at its first request; concurrent requests share one query. */
  async #month(em: EntityManager, clientId: string, name: string): Promise<BufferedMonth> {
    const key = bufferKey(clientId, name);
    const known = this.#months.get(key);
    if (known) return known;
    const reading = this.#reading.get(key) ?? this.#read(em, clientId, name).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(em: EntityManager, clientId: string, name: string): Promise<BufferedMonth> {
    const row = await em.findOne(UsageMonth, { clientId, month: name }, { disableIdentityMap: true });
    const month = { clientId, month: name, written: row?.requests ?? 0, writing: 0, fresh: 0, used: true };
    this.#months.set(bufferKey(clientId, name), month);
    return month;
  }
}

const bufferKey = (clientId: string, month: string): string => `${clientId} ${month}`;
