import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { recordEvent } from '../../server/events/record-event.ts';
import { assignEventSequenceNumbers } from '../../server/events/assign-event-sequence-numbers.ts';
import { databaseKind } from '../support/services/database.ts';
import { startMandateServer, type MandateServer } from '../support/server/start-mandate.ts';
import { createTestShop } from '../support/shop/test-shop.ts';

/** The default duration is long enough to detect a fault in every run. Use `MANDATE_FEED_SECONDS=60` for a thorough test. */
const seconds = Number(process.env['MANDATE_FEED_SECONDS'] ?? 5);
const writers = 16;

type WrittenEvent = { type: string; subject: number };
type ReceivedEvent = WrittenEvent & { sequence: number };

describe.skipIf(databaseKind === 'pglite')(`${writers} concurrent writers for ${seconds} s`, { timeout: seconds * 1000 + 120_000 }, () => {
  test('a reader with a cursor receives every event once and in order', async () => {
    const { written, received } = await runFeedUnderLoad(async (mandate, token, after) => {
      const { body } = await mandate.callApi('GET', `/api/v1/events?after=${after}&wait=1&limit=100`, { token });
      return {
        events: body.data.map((event: { id: number; type: string; subject: { id: number } }) => ({
          ...event,
          sequence: event.id,
          subject: event.subject.id,
        })),
        after: body.next_after,
      };
    });
    expect(received.map(({ sequence }) => sequence)).toEqual(received.map((_, index) => index + (received[0]?.sequence ?? 0)));
    expect(eventKeys(received)).toEqual(eventKeys(written));
    expect(written.length).toBeGreaterThan(seconds * 50);
  });

  test('the test detects that a cursor on row IDs misses events', async () => {
    const { written, received } = await runFeedUnderLoad(async (mandate, _token, after) => {
      const rows = await mandate.db.em
        .fork()
        .execute<{ id: number; type: string; subject_id: number }[]>(
          'select id, type, subject_id from events where id > ? order by id limit 100',
          [after],
        );
      return {
        events: rows.map(({ id, type, subject_id: subject }) => ({ sequence: id, type, subject })),
        after: rows.at(-1)?.id ?? after,
      };
    });
    const [writtenKeys, receivedKeys] = [new Set(eventKeys(written)), new Set(eventKeys(received))];
    expect([...writtenKeys].filter((key) => !receivedKeys.has(key)).length).toBeGreaterThan(0);
  });
});

const eventKeys = (events: readonly WrittenEvent[]): string[] => events.map(({ type, subject }) => `${type} ${subject}`).toSorted();

type ReadAfter = (mandate: MandateServer, token: string, after: number) => Promise<{ events: ReceivedEvent[]; after: number }>;

/** Runs writers with transactions of random length, two sequencers and one reader. Returns the written and the received events. */
async function runFeedUnderLoad(readAfter: ReadAfter): Promise<{ written: WrittenEvent[]; received: ReceivedEvent[] }> {
  const mandate = await startMandateServer();
  try {
    const { token } = await createTestShop(mandate);
    await mandate.db.em.fork().execute('delete from events');
    const [written, received]: [WrittenEvent[], ReceivedEvent[]] = [[], []];
    const end = Date.now() + seconds * 1000;
    let subject = 0;
    const writersDone = new AbortController();
    const write = async (): Promise<void> => {
      while (Date.now() < end) {
        subject += 1;
        const event = { type: 'product.updated' as const, subject };
        await mandate.db.em.fork().transactional(async (em) => {
          await recordEvent(em, event.type, { id: event.subject, version: 1 }, null);
          await sleep(Math.random() ** 4 * 40);
        });
        written.push(event);
      }
    };
    const sequence = async (): Promise<void> => {
      while (!writersDone.signal.aborted) {
        await assignEventSequenceNumbers(mandate.db.em.fork());
        await sleep(5);
      }
      await assignEventSequenceNumbers(mandate.db.em.fork());
    };
    const read = async (): Promise<void> => {
      for (let [after, quiet] = [0, 0]; quiet < 3;) {
        const batch = await readAfter(mandate, token, after);
        received.push(...batch.events);
        quiet = writersDone.signal.aborted && batch.events.length === 0 ? quiet + 1 : 0;
        after = batch.after;
        if (batch.events.length === 0) await sleep(5);
      }
    };
    const reading = read();
    const sequencing = [sequence(), sequence()];
    await Promise.all(Array.from({ length: writers }, write));
    writersDone.abort();
    await Promise.all([...sequencing, reading]);
    return { written, received };
  } finally {
    await mandate.close();
  }
}
