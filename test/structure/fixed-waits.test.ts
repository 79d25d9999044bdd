import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const tests = join(import.meta.dirname, '..');

/** The files that wait for a fixed time, each with the reason why it cannot wait for a condition. */
const fixedWaits: Readonly<Record<string, string>> = {
  'api/events/signals.test.ts': 'an idle server sends no queries for some time',
  'api/transport/transport.test.ts': 'data arrives in separate packets',
  'api/usage/rate-limits.test.ts': 'the wait is the time that Retry-After specifies',
  'api/users/last-administrator.test.ts': 'PostgreSQL reports deadlocks once per second',
  'bench/load-generator/load-generator.test.ts': 'a server responds with a delay',
  'cli/commands/task-wait-import-export.test.ts': 'the test measures an upload rate',
  'cli/sign-in/credentials.test.ts': 'a lock is respected for some time',
  'http/waiting-callers.test.ts': 'a slow request body is within its time limit',
  'oauth/signing-keys/key-rotation.test.ts': 'requests are spread over the rotation schedule',
  'process/background/event-signals.test.ts': 'a locked event gets no sequence number for some time',
  'process/lifecycle/kill.test.ts': 'PostgreSQL checks for a client disconnection at an interval',
  'process/lifecycle/watchdog.test.ts': 'a process is suspended for longer than the watchdog timeout',
  'sdk/requests/files.test.ts': 'data is transferred slowly, and a reader pauses for longer than the timeout',
  'shop/event-feed.test.ts': 'transactions have random durations',
  'support/network/chaos-proxy.ts': 'the proxy delays responses',
  'support/network/tcp-proxy.ts': 'the proxy delays data',
  'support/services/postgresql-databases.ts': 'a request to a server that does not respond is aborted after a time limit',
};

/** Files in `support` with functions that poll a condition. */
const polls = [
  'contract/validating-proxy.ts',
  'server/server-process.ts',
  'services/mailbox.ts',
  'services/patroni-cluster.ts',
  'services/pgbouncer.ts',
  'services/postgresql-server.ts',
  'services/postgresql-standby.ts',
  'services/redis-server.ts',
  'wait-until.ts',
].map((file) => `support/${file}`);

/** Whether the source waits for a fixed time: with `setTimeout` from `node:timers/promises`, or with a promise resolved by a timer. */
const waitsForTime = (source: string): boolean =>
  /import \{[^}]*\bsetTimeout\b[^}]*\} from 'node:timers\/promises'/.test(source) ||
  /new Promise\b[^;]*=>\s*\{?\s*setTimeout\(/.test(source);

test('tests wait for a condition, never for a fixed time', async () => {
  const found: string[] = [];
  for await (const file of glob(['**/*.test.ts', 'support/**/*.ts'], { cwd: tests, exclude: ['structure/fixed-waits.test.ts'] }))
    if (waitsForTime(await readFile(join(tests, file), 'utf8'))) found.push(file);
  expect(found.toSorted()).toEqual([...Object.keys(fixedWaits), ...polls].toSorted());
});

test.each([
  "import { setTimeout as sleep } from 'node:timers/promises';\nawait sleep(500);",
  "import { setImmediate, setTimeout } from 'node:timers/promises';",
  'await new Promise((resolve) => setTimeout(resolve, 50));',
  'await new Promise<void>((resolve) => {\n  setTimeout(resolve, 50);\n});',
])('a fixed wait is found: %s', (source) => {
  expect(waitsForTime(source)).toBe(true);
});

test.each([
  "import { waitUntil } from '../support/wait-until.ts';\nawait waitUntil(() => orders.length > 5);",
  'const timer = setTimeout(() => socket.destroy(), 5_000);',
  "import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';",
])('other code is not rejected: %s', (source) => {
  expect(waitsForTime(source)).toBe(false);
});
