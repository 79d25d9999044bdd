import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresqlServer } from '../../support/services/postgresql-server.ts';
import { createDataDirectory } from '../../support/server/server-process.ts';
import type { Fault, Scenario } from './scenario.ts';
import { PostgresqlEnvironment, startDurablePostgresql, startServers, type EnvironmentParts } from '../environments/environment.ts';

/** Interval at which a process reads its clock file, and therefore the maximum delay before a jump takes effect. */
const clockFileIntervalMs = 1_000;

/** Servers with independent clocks that the test can set. */
class ClockEnvironment extends PostgresqlEnvironment {
  override readonly clocks = 'independent';
  readonly #files: readonly string[];

  constructor(parts: EnvironmentParts, postgresql: PostgresqlServer, files: readonly string[]) {
    super(parts, postgresql);
    this.#files = files;
  }

  /** Sets each server's clock offset, in hours. */
  async set(hours: readonly number[]): Promise<void> {
    await Promise.all(this.#files.map((file, nth) => writeFile(file, offset(hours[nth] ?? 0))));
    await sleep(clockFileIntervalMs + 100);
  }
}

const offset = (hours: number): string => `${hours < 0 ? '-' : '+'}${Math.abs(hours) * 3600}\n`;

const jumps: readonly (readonly [hours: readonly number[], note: string])[] = [
  [[1, 1], 'both clocks an hour forward'],
  [[0, 0], 'both clocks an hour back'],
  [[1, 0], 'one clock an hour forward'],
  [[0, 0], 'this clock an hour back'],
  [[-1, -1], 'both clocks an hour back'],
  [[0, 0], 'both clocks an hour forward'],
];

/** Changes one or both server clocks under load. The PostgreSQL clock stays correct. */
const jumpClock: Fault<ClockEnvironment> = {
  name: 'clock-jump',
  title: 'clocks of both servers or of one server changed by an hour',
  async inject(environment, { nth }) {
    const [hours = [], note] = jumps[nth % jumps.length] ?? [];
    await environment.set(hours);
    return { since: performance.now(), ...(note !== undefined && { note }) };
  },
  async restore(_environment, { load }) {
    await load.waitForWrites(20); // waits until some writes have used the changed clocks
    return undefined;
  },
};

/** Finds the library that changes a process's clock (`apt-get install faketime`). */
const libfaketime = (): string | undefined => globSync('/usr/lib/{*/,}faketime/libfaketime.so.1')[0];

/** Two servers with independent clocks. */
export const clockScenario: Scenario<ClockEnvironment> = {
  missing: () => (libfaketime() === undefined ? 'libfaketime is not installed (apt-get install faketime)' : undefined),
  async open() {
    const [library, directory] = [libfaketime() ?? '', await createDataDirectory()];
    const files = [0, 1].map((nth) => join(directory.path, `clock-${nth}`));
    await Promise.all(files.map((file) => writeFile(file, offset(0))));
    const postgresql = await startDurablePostgresql();
    const parts = await startServers(2, (nth) => ({
      DATABASE_URL: postgresql.url,
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: files[nth] ?? '',
      FAKETIME_CACHE_DURATION: String(clockFileIntervalMs / 1000),
      // setting the system clock does not affect the monotonic clock, which timers use
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    }));
    const environment = new ClockEnvironment(parts, postgresql, files);
    environment.onClose(async () => directory[Symbol.asyncDispose]());
    return environment;
  },
  faults: [jumpClock],
};
