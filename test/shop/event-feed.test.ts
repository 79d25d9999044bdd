import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { recordEvent } from '../../server/events/record-event.ts';
import { assignEventSequence } from '../../server/events/assign-sequence.ts';
import { databaseKind } from '../support/services/database.ts';
import { startMandate, type Mandate } from '../support/server/start-mandate.ts';
import { openShop } from '../support/server/shop.ts';

/** Long enough to see a fault every time; `MANDATE_FEED_SECONDS=60` for a thorough look. */
const seconds = Number(process.env['MANDATE_FEED_SECONDS'] ?? 5);
const writers = 16;

type Written = { type: string; subject: number };
type Seen = Written & { at: number };

describe.skipIf(databaseKind === 'pglite')(`${writers} writers at once for ${seconds} s`, { timeout: seconds * 1000 + 120_000 }, () => {
  test('whoever follows with a cursor sees every event once, and in order', async () => {
    const { written, seen } = await busyFeed(async (mandate, token, after) => {
      const { body } = await mandate.call('GET', `/api/v1/events?after=${after}&wait=1&limit=100`, { token });
      return {
        events: body.data.map((event: { id: number; type: string; subject: { id: number } }) => ({
          ...event,
          at: event.id,
          subject: event.subject.id,
        })),
        after: body.next_after,
      };
    });
    expect(seen.map(({ at }) => at)).toEqual(seen.map((_, index) => index + (seen[0]?.at ?? 0)));
    expect(keys(seen)).toEqual(keys(written));
    expect(written.length).toBeGreaterThan(seconds * 50);
  });

  test('a cursor on the identity of rows misses some, and this test would see it', async () => {
    const { written, seen } = await busyFeed(async (mandate, _token, after) => {
      const rows = await mandate.db.em
        .fork()
        .execute<{ id: number; type: string; subject_id: number }[]>(
          'select id, type, subject_id from events where id > ? order by id limit 100',
          [after],
        );
      return { events: rows.map(({ id, type, subject_id: subject }) => ({ at: id, type, subject })), after: rows.at(-1)?.id ?? after };
    });
    const [all, found] = [new Set(keys(written)), new Set(keys(seen))];
    expect([...all].filter((key) => !found.has(key)).length).toBeGreaterThan(0);
  });
});

const keys = (events: readonly Written[]): string[] => events.map(({ type, subject }) => `${type} ${subject}`).toSorted();

type Follow = (mandate: Mandate, token: string, after: number) => Promise<{ events: Seen[]; after: number }>;

/** Writers whose transactions take now more, now less time, and two processes' worth of sequencers; what was written, and what the follower saw. */
async function busyFeed(follow: Follow): Promise<{ written: Written[]; seen: Seen[] }> {
  const mandate = await startMandate();
  try {
    const { token } = await openShop(mandate);
    await mandate.db.em.fork().execute('delete from events');
    const [written, seen]: [Written[], Seen[]] = [[], []];
    const end = Date.now() + seconds * 1000;
    let subject = 0;
    const over = new AbortController();
    const write = async (): Promise<void> => {
      while (Date.now() < end) {
        subject += 1;
        const mine = { type: 'product.updated' as const, subject };
        await mandate.db.em.fork().transactional(async (em) => {
          await recordEvent(em, mine.type, { id: mine.subject, version: 1 }, null);
          await sleep(Math.random() ** 4 * 40);
        });
        written.push(mine);
      }
    };
    const sequence = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await assignEventSequence(mandate.db.em.fork());
        await sleep(5);
      }
      await assignEventSequence(mandate.db.em.fork());
    };
    const read = async (): Promise<void> => {
      for (let [after, quiet] = [0, 0]; quiet < 3;) {
        const found = await follow(mandate, token, after);
        seen.push(...found.events);
        quiet = over.signal.aborted && found.events.length === 0 ? quiet + 1 : 0;
        after = found.after;
        if (found.events.length === 0) await sleep(5);
      }
    };
    const reading = read();
    const sequencing = [sequence(), sequence()];
    await Promise.all(Array.from({ length: writers }, write));
    over.abort();
    await Promise.all([...sequencing, reading]);
    return { written, seen };
  } finally {
    await mandate.close();
  }
}
