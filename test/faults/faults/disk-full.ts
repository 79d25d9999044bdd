import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Fault, Scene } from '../scenario.ts';
import { eventually, PostgresqlStage, startDurablePostgresql, startServers } from '../environments/environment.ts';

const run = promisify(execFile);

/** How long there is no room after the first write that found none. */
const fullMs = 1_500;

/** @param owner mount options that name it; root by default */
export const mountSmallDisk = (where: string, owner = ''): Promise<unknown> =>
  run('mount', ['-t', 'tmpfs', '-o', `size=220m,mode=0700${owner}`, 'tmpfs', where]);

/** Something else fills the disk of PostgreSQL to the last byte; later it is gone, and PostgreSQL started again if it gave up. */
const fillDisk: Fault<PostgresqlStage> = {
  name: 'full-disk',
  title: 'no room left on the disk of PostgreSQL',
  async strike(stage, { load }) {
    const { postgresql } = stage;
    const ballast = join(postgresql.data, 'ballast');
    const failures = (): number => (load.ledger.statuses.get(503) ?? 0) + (load.ledger.statuses.get(500) ?? 0);
    const before = failures();
    await run('sh', ['-c', 'cat /dev/zero >"$0" 2>/dev/null || true', ballast]);
    for (const end = Date.now() + 20_000; failures() === before && Date.now() < end;) await sleep(20);
    await sleep(fullMs);
    const refused = failures() - before;
    await rm(ballast);
    const since = performance.now();
    let restarted = false;
    await eventually(async () => {
      const alive = await stage.sql('select 1').catch(() => undefined);
      if (alive) return;
      await postgresql.start();
      restarted = true;
    }, 60);
    return { since, note: `${refused} requests refused${restarted ? ', PostgreSQL had ended and was started again' : ''}` };
  },
};

export function whyNothingCanBeMounted(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'mandate-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', directory], { stdio: 'pipe' });
    execFileSync('umount', [directory]);
    return undefined;
  } catch (error) {
    return `nothing can be mounted here: ${String(error)}`;
  } finally {
    rmdirSync(directory);
  }
}

/** Two servers on a PostgreSQL whose disk is small: a tmpfs, and what is written ahead comes in small files, so that it soon needs another. */
export const smallDisk: Scene<PostgresqlStage> = {
  missing: whyNothingCanBeMounted,
  async open() {
    const postgresql = await startDurablePostgresql({
      initdb: ['--wal-segsize=1'],
      settings: ['wal_recycle=off', 'max_wal_size=32MB', 'min_wal_size=2MB'],
      async prepare(data, { uid, gid }) {
        await mkdir(data, { mode: 0o700 });
        await mountSmallDisk(data, uid === undefined ? '' : `,uid=${uid},gid=${gid}`);
      },
    });
    return new PostgresqlStage(await startServers(2, () => ({ DATABASE_URL: postgresql.url })), postgresql);
  },
  faults: [fillDisk],
};
