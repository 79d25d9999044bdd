import { raw } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { calendarMonthPeriodFromDate } from './calendar-month-period-from-date.ts';
import { MonthlyUsage } from './monthly-usage.entity.ts';

type BufferedMonth = {
  readonly clientId: string;
  readonly month: string;
  /** The count most recently read from the database, including requests counted by other processes. */
  written: number;
  /** Number of requests that are currently being written to the database. */
  writing: number;
  /** Number of requests that this process has counted but not yet written. */
  fresh: number;
  /** Number of errors that are currently being written to the database, and number of errors that have not been written yet. */
  writingErrors: number;
  freshErrors: number;
  /** Whether the client has sent a request since the previous write. */
  used: boolean;
};

/**
 * Counts the requests of each application and API key in the current month. The counts are kept in memory and written periodically, so that
 * no request waits for a write. A process learns the counts of other processes when it writes its own counts. If a process is killed, the
 * counts of its last few seconds are lost.
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
    const month = await this.#month(em, clientId, calendarMonthPeriodFromDate(now).name);
    month.used = true;
    const before = month.written + month.writing + month.fresh;
    const exceeded = counts && before >= limit;
    if (counts && !exceeded) month.fresh += 1;
    return { requests: month.written + month.writing + month.fresh, exceeded };
  }

  /** Counts an error response. The request itself either has been counted or was rejected by a limit. */
  countError(clientId: string, now: Date): void {
    const month = this.#months.get(bufferKey(clientId, calendarMonthPeriodFromDate(now).name));
    if (month) month.freshErrors += 1;
  }

  /** Writes the requests counted since the previous write, and removes clients without requests since that write. */
  async flush(em: EntityManager): Promise<void> {
    const known = [...this.#months.values()];
    const unwritten = known.filter(({ fresh, freshErrors }) => fresh > 0 || freshErrors > 0);
    for (const month of known) {
      if (!month.used && month.fresh === 0 && month.freshErrors === 0) this.#months.delete(bufferKey(month.clientId, month.month));
      month.used = false;
      [month.writing, month.fresh, month.writingErrors, month.freshErrors] = [month.fresh, 0, month.freshErrors, 0];
    }
    if (unwritten.length === 0) return;
    try {
      const totals = new Map(
        (await em.transactional((inner) => addToMonthlyUsage(inner, unwritten))).map((row) => [
          bufferKey(row.clientId, row.month),
          row.requests,
        ]),
      );
      for (const month of unwritten) [month.written, month.writing] = [totals.get(bufferKey(month.clientId, month.month)) ?? 0, 0];
    } catch (error) {
      for (const month of unwritten) {
        [month.fresh, month.writing] = [month.fresh + month.writing, 0];
        [month.freshErrors, month.writingErrors] = [month.freshErrors + month.writingErrors, 0];
      }
      throw error;
    }
  }

  /**
   * Returns a client's usage for a month. The usage is read from the database when the client sends its first request; concurrent requests
   * share one query.
   */
  async #month(em: EntityManager, clientId: string, name: string): Promise<BufferedMonth> {
    const key = bufferKey(clientId, name);
    const known = this.#months.get(key);
    if (known) return known;
    const reading = this.#reading.get(key) ?? this.#read(em, clientId, name).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(em: EntityManager, clientId: string, name: string): Promise<BufferedMonth> {
    const row = await em.findOne(MonthlyUsage, { clientId, month: name }, { disableIdentityMap: true });
    const month = {
      clientId,
      month: name,
      written: row?.requests ?? 0,
      writing: 0,
      fresh: 0,
      writingErrors: 0,
      freshErrors: 0,
      used: true,
    };
    this.#months.set(bufferKey(clientId, name), month);
    return month;
  }
}

/**
 * Adds these counts to the stored counts and returns the new totals. Must run in a transaction. Rows are written in a fixed order, so that
 * concurrent processes cannot deadlock.
 */
async function addToMonthlyUsage(em: EntityManager, months: readonly BufferedMonth[]) {
  const rows = months.map(({ clientId, month, writing, writingErrors }) => ({ clientId, month, requests: writing, errors: writingErrors }));
  const sorted = rows.toSorted((a, b) => (bufferKey(a.clientId, a.month) < bufferKey(b.clientId, b.month) ? -1 : 1));
  const insert = em.createQueryBuilder(MonthlyUsage).insert(sorted).onConflict(['clientId', 'month']);
  await insert
    .merge({
      requests: raw('usage_months.requests + excluded.requests'),
      errors: raw('usage_months.errors + excluded.errors'),
    })
    .execute();
  const written = { $or: rows.map(({ clientId, month }) => ({ clientId, month })) };
  return em.find(MonthlyUsage, written, { disableIdentityMap: true });
}

const bufferKey = (clientId: string, month: string): string => `${clientId} ${month}`;
