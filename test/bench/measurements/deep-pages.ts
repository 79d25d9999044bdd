import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { scopeNames } from '@mandate/contract';
import { migrate } from '../../../server/database/migrate/run-migrations.ts';
import { openDatabase } from '../../../server/schema/open-database.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys.ts';
import { Connections } from '../../load/connections.ts';
import { deepPosition, moved } from '../../scale/deep-page.ts';
import { fillOrders } from '../../scale/fill-orders.ts';
import { confidentialClient } from '../../support/oauth/oauth-flow.ts';
import type { Check } from '../report/threshold.ts';
import { median } from './measure.ts';
import { clientToken } from '../oauth-traffic.ts';
import { emptyDatabase } from '../servers/postgresql.ts';
import { issuer, proxyTo, throughProxy } from '../servers/load-balancer.ts';
import type { Stage } from '../servers/environment.ts';
import { bytesOf } from '../traffic.ts';

/** Each page so often, in turns. */
const repeats = 300;
/** What an order of these takes with its indexes and what is written before it, with room to spare. */
const bytesPerOrder = 1_000;

/** A list of all orders in a database of their own, which may be very many; filling it takes longer than everything else, so it is filled once. */
export class LongList implements AsyncDisposable {
  readonly measure: () => Promise<Check[]>;
  readonly #opened: AsyncDisposableStack;

  private constructor(opened: AsyncDisposableStack, measure: () => Promise<Check[]>) {
    this.#opened = opened;
    this.measure = measure;
  }

  static async fill(stage: Stage, count: number, report: (doing: string) => void): Promise<LongList> {
    await refuseWithoutRoom(count);
    await using opened = new AsyncDisposableStack();
    const postgresql = await emptyDatabase();
    opened.defer(() => postgresql.remove());
    const db = await openDatabase(postgresql.url, { timeouts: 'none' });
    opened.defer(() => db.close());
    await migrate(db);
    await fillOrders(db.em.fork(), count, (done) => report(`page: ${done.toLocaleString('en')} of ${count.toLocaleString('en')} orders`));
    const client = await confidentialClient(db, scopeNames);
    const deep = await deepPosition(db, { filters: { userId: undefined } });
    if (!deep) throw new Error('--long-list: needs more than two pages of orders');
    const server = await stage.startMandate({ DATABASE_URL: postgresql.url });
    opened.defer(() => server.stop());
    const measure = async (): Promise<Check[]> => {
      report(`page: ${deep.page.toLocaleString('en')} beside the first`);
      const headers = { ...throughProxy, authorization: `Bearer ${await clientToken(proxyTo(server.origin), client)}` };
      const cursor = await firstCursor(server.origin, headers);
      const further = `/api/v1/orders?cursor=${moved(cursor, deep.position, deriveKeys(stage.secret))}`;
      const [firstMs, deepMs] = await inTurns(server.origin, ['/api/v1/orders', further], headers);
      const title = `page ${deep.page.toLocaleString('en')} of ${count.toLocaleString('en')} orders beside page 1`;
      const parts = { 'ms, page 1': firstMs, 'ms, deep page': deepMs };
      return [{ name: 'page', title, value: deepMs / firstMs, unit: 'x', goal: { atMost: 1.5 }, parts }];
    };
    return new LongList(opened.move(), measure);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

async function refuseWithoutRoom(count: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const [room, needed] = [bavail * bsize, count * bytesPerOrder];
  const inGb = (bytes: number): string => `${Math.ceil(bytes / 1e9)} GB`;
  if (room < needed)
    throw new Error(
      `${count.toLocaleString('en')} orders need ${inGb(needed)} in ${tmpdir()}, which has ${inGb(room)}: set TMPDIR elsewhere`,
    );
}

type Headers = Readonly<Record<string, string>>;

async function firstCursor(origin: string, headers: Headers): Promise<string> {
  const answer = await proxyTo(origin)(new URL('/api/v1/orders', issuer), { headers });
  return z.object({ next_cursor: z.string() }).parse(await answer.json()).next_cursor;
}

/** Medians, of one caller. */
async function inTurns(origin: string, paths: readonly [string, string], headers: Headers): Promise<[number, number]> {
  using connections = new Connections(origin, 1);
  const took = async (path: string): Promise<number> => {
    const begun = performance.now();
    const { status } = await connections.send(bytesOf({ path, headers }, new URL(origin).host));
    if (status !== 200) throw new Error(`${path}: ${status}`);
    return performance.now() - begun;
  };
  const times: [number, number][] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) times.push([await took(paths[0]), await took(paths[1])]);
  const warm = times.slice(repeats / 6);
  return [median(warm.map(([first]) => first)), median(warm.map(([, deep]) => deep))];
}
