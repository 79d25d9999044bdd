import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresqlServer } from '../../support/services/postgresql-server.ts';
import { temporaryDataDirectory } from '../../support/server/server-process.ts';
import type { Fault, Scene } from '../scenario.ts';
import { PostgresqlStage, startDurablePostgresql, startServers, type StageParts } from '../environments/environment.ts';

/** How often a process looks at its file, and so how long a jump may take to be seen. */
const seenMs = 1_000;

/** Each server has a clock that can be set. */
class ClockStage extends PostgresqlStage {
  override readonly clocks = 'several';
  readonly #files: readonly string[];

  constructor(parts: StageParts, postgresql: PostgresqlServer, files: readonly string[]) {
    super(parts, postgresql);
    this.#files = files;
  }

  /** Sets the clock of each server so many hours before or behind. */
  async set(hours: readonly number[]): Promise<void> {
    await Promise.all(this.#files.map((file, nth) => writeFile(file, offset(hours[nth] ?? 0))));
    await sleep(seenMs + 100);
  }
}

const offset = (hours: number): string => `${hours < 0 ? '-' : '+'}${Math.abs(hours) * 3600}\n`;

const jumps: readonly (readonly [hours: readonly number[], note: string])[] = [
  [[1, 1], 'an hour forward'],
  [[0, 0], 'an hour back'],
  [[1, 0], 'one of them an hour forward'],
  [[0, 0], 'and back'],
  [[-1, -1], 'an hour back'],
  [[0, 0], 'an hour forward'],
];

/** The clocks of the servers jump under load, together and apart; that of PostgreSQL goes on. */
const jumpClock: Fault<ClockStage> = {
  name: 'clock-jump',
  title: 'the clocks of the servers jump by an hour, forward, back and apart',
  async strike(stage, { nth }) {
    const [hours = [], note] = jumps[nth % jumps.length] ?? [];
    await stage.set(hours);
    return { since: performance.now(), ...(note !== undefined && { note }) };
  },
  async afterwards(_stage, { load }) {
    await load.acknowledged(20); // some of it in the new time
    return undefined;
  },
};

/** The library that shows another time to a process; `apt-get install faketime`. */
const libfaketime = (): string | undefined => globSync('/usr/lib/{*/,}faketime/libfaketime.so.1')[0];

/** Two servers with clocks of their own. */
export const clocks: Scene<ClockStage> = {
  missing: () => (libfaketime() === undefined ? 'there is no libfaketime (apt-get install faketime)' : undefined),
  async open() {
    const [library, directory] = [libfaketime() ?? '', await temporaryDataDirectory()];
    const files = [0, 1].map((nth) => join(directory.path, `clock-${nth}`));
    await Promise.all(files.map((file) => writeFile(file, offset(0))));
    const postgresql = await startDurablePostgresql();
    const parts = await startServers(2, (nth) => ({
      DATABASE_URL: postgresql.url,
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: files[nth] ?? '',
      FAKETIME_CACHE_DURATION: String(seenMs / 1000),
      // a computer whose clock is set goes on counting how long it runs, and timers go by that
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    }));
    const stage = new ClockStage(parts, postgresql, files);
    stage.alsoClose(async () => directory[Symbol.asyncDispose]());
    return stage;
  },
  faults: [jumpClock],
};
