import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { monthOf } from './month.ts';

const readMonth = statement<{ requests: number }>(
  'usage_of_month',
  'select requests from usage_months where client_id = $1 and month = $2',
);

// in one order, so that processes that write at the same time wait for each other and not in a circle
const addRequests = statement<{ client_id: string; month: string; requests: number }>(
  'add_usage',
  `insert into usage_months (client_id, month, requests)
   select client_id, month, requests from unnest($1::text[], $2::text[], $3::bigint[]) as used (client_id, month, requests)
   order by client_id, month
   on conflict (client_id, month) do update set requests = usage_months.requests + excluded.requests
   returning client_id, month, requests`,
);

type Month = {
  readonly clientId: string;
  readonly month: string;
  /** What the database said last, the requests of other processes included. */
  written: number;
  /** On its way to the database. */
  writing: number;
  /** Counted here, and not written yet. */
  fresh: number;
  /** Whether it was asked for since the last time of writing. */
  used: boolean;
};

/**
 * How many requests each application and API key made this month: counted here, and written now and then, so that no request
 * waits for it. Of several processes each learns what the others counted when it writes. A killed process forgets what it had
 * not written yet, which is what a few seconds brought.
 */
export class MonthlyUse {
  #months = new Map<string, Month>();
  #reading = new Map<string, Promise<Month>>();

  /** One request more, if it counts and fewer than `limit` were made; how many there are now. */
  async count(em: Em, clientId: string, limit: number, counts: boolean, now: Date): Promise<{ requests: number; exceeded: boolean }> {
    const month = await this.#month(em, clientId, monthOf(now).name);
    month.used = true;
    const before = month.written + month.writing + month.fresh;
    const exceeded = counts && before >= limit;
    if (counts && !exceeded) month.fresh += 1;
    return { requests: month.written + month.writing + month.fresh, exceeded };
  }

  /** Writes what was counted since the last time, and forgets who has not asked anything since. */
  async write(em: Em): Promise<void> {
    const known = [...this.#months.values()];
    const due = known.filter(({ fresh }) => fresh > 0);
    for (const month of known) {
      if (!month.used && month.fresh === 0) this.#months.delete(keyOf(month.clientId, month.month));
      month.used = false;
      [month.writing, month.fresh] = [month.fresh, 0];
    }
    if (due.length === 0) return;
    try {
      const columns = [due.map(({ clientId }) => clientId), due.map(({ month }) => month), due.map(({ writing }) => writing)];
      const totals = new Map((await addRequests(em, columns)).map((row) => [keyOf(row.client_id, row.month), row.requests]));
      for (const month of due) [month.written, month.writing] = [totals.get(keyOf(month.clientId, month.month)) ?? 0, 0];
    } catch (error) {
      for (const month of due) [month.fresh, month.writing] = [month.fresh + month.writing, 0];
      throw error;
    }
  }

  /** From the database at the first request of the month; those that come meanwhile wait for the same answer. */
  async #month(em: Em, clientId: string, name: string): Promise<Month> {
    const key = keyOf(clientId, name);
    const known = this.#months.get(key);
    if (known) return known;
    const reading = this.#reading.get(key) ?? this.#read(em, clientId, name).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(em: Em, clientId: string, name: string): Promise<Month> {
    const [row] = await readMonth(em, [clientId, name]);
    const month = { clientId, month: name, written: row?.requests ?? 0, writing: 0, fresh: 0, used: true };
    this.#months.set(keyOf(clientId, name), month);
    return month;
  }
}

const keyOf = (clientId: string, month: string): string => `${clientId} ${month}`;
