import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  assertSupportedPgLibrary,
  loadPgOfMikroOrm,
  UnsupportedPgLibraryError,
} from '../../server/database/connection/assert-supported-pg-library.ts';

const { version, Client } = loadPgOfMikroOrm();

/** A method of the `pg` library that a test overrides. */
type Method = (...args: unknown[]) => void;
type PgClass = { readonly prototype: Readonly<Record<string, Method>> };
const anyClass = z.custom<PgClass & { readonly Query: PgClass }>();

/** Returns pg's client with one method replaced, to simulate a change in a later release of pg. */
function clientWith(part: 'Client' | 'Query', name: string, replacement: (this: unknown, original: Method, ...args: unknown[]) => void) {
  const { Query } = anyClass.parse(Client);
  class ChangedQuery extends z.custom<new () => object>().parse(Query) {}
  class ChangedClient extends Client {
    static Query = ChangedQuery;
  }
  const changed = part === 'Client' ? ChangedClient : ChangedQuery;
  const original = (part === 'Client' ? anyClass.parse(Client) : Query).prototype[name];
  if (!original) throw new Error(`pg has no ${part}.${name}`);
  Object.defineProperty(changed.prototype, name, {
    value(this: unknown, ...args: unknown[]) {
      replacement.call(this, original.bind(this), ...args);
    },
  });
  return ChangedClient;
}

const ignore = (): void => undefined;
const anyConnection = z.custom<{ readonly sync: () => void; readonly query: (text: string) => void }>();

describe('the check of pg at start-up', () => {
  test('accepts the installed pg, which is the version in the lockfile', async () => {
    await assertSupportedPgLibrary();
    const lockfile = z
      .object({ packages: z.record(z.object({ version: z.string().optional(), dependencies: z.record(z.string()).default({}) })) })
      .parse(JSON.parse(await readFile(join(import.meta.dirname, '../../package-lock.json'), 'utf8')));
    expect(lockfile.packages['node_modules/@mikro-orm/postgresql']?.dependencies['pg']).toBe(version);
  });

  test('rejects another version', async () => {
    const checked = assertSupportedPgLibrary({ version: '8.99.0', Client });
    await expect(checked).rejects.toThrow(UnsupportedPgLibraryError);
    await expect(checked).rejects.toThrow('pg 8.99.0 is not supported');
  });

  test.each([
    [
      'sends Sync twice',
      clientWith('Query', '_getRows', (original, connection, ...more) => {
        original(connection, ...more);
        anyConnection.parse(connection).sync();
      }),
      /it sends/,
    ],
    [
      'uses the simple protocol',
      clientWith('Query', 'submit', (_original, connection) => anyConnection.parse(connection).query('select 1')),
      /it sends query/,
    ],
    ['handles rows elsewhere', clientWith('Client', '_handleDataRow', ignore), /another result/],
    ['handles the end of a statement elsewhere', clientWith('Client', '_handleCommandComplete', ignore), /another result/],
    ['does not report the end of a query', clientWith('Client', '_handleReadyForQuery', ignore), /does not complete|it sends/],
    ['does not record prepared statements', clientWith('Client', '_handleParseComplete', ignore), /prepared statements/],
    [
      'has no method for preparing',
      clientWith('Query', 'prepare', () => {
        throw new TypeError('not a function');
      }),
      /it fails/,
    ],
  ])('rejects a pg that %s', async (_change, Changed, message) => {
    const checked = assertSupportedPgLibrary({ version, Client: Changed });
    await expect(checked).rejects.toThrow(message);
  });
});
