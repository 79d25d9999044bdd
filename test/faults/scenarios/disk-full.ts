import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Fault, Scenario } from './scenario.ts';
import { retryFor, PostgresqlEnvironment, startDurablePostgresql, startServers } from '../environments/environment.ts';

const run = promisify(execFile);

/** Duration for which the disk stays full after the first failed write. */
const fullMs = 1_500;

/** @param owner mount options that set the directory's owner (default: root) */
export const mountSmallDisk = (where: string, owner = ''): Promise<unknown> =>
  run('mount', ['-t', 'tmpfs', '-o', `size=220m,mode=0700${owner}`, 'tmpfs', where]);

/** Fills PostgreSQL's disk completely, frees the space later, and restarts PostgreSQL if it stopped. */
const fillDisk: Fault<PostgresqlEnvironment> = {
  name: 'full-disk',
  title: 'PostgreSQL disk full',
  async inject(environment, { load }) {
    const { postgresql } = environment;
    const ballast = join(postgresql.dataDirectory, 'ballast');
    const failures = (): number => (load.ledger.statuses.get(503) ?? 0) + (load.ledger.statuses.get(500) ?? 0);
    const before = failures();
    await run('sh', ['-c', 'cat /dev/zero >"$0" 2>/dev/null || true', ballast]);
    for (const end = Date.now() + 20_000; failures() === before && Date.now() < end;) await sleep(20);
    await sleep(fullMs);
    const refused = failures() - before;
    await rm(ballast);
    const since = performance.now();
    let restarted = false;
    await retryFor(async () => {
      const alive = await environment.sql('select 1').catch(() => undefined);
      if (alive) return;
      await postgresql.start();
      restarted = true;
    }, 60);
    return { since, note: `${refused} requests rejected${restarted ? ', PostgreSQL stopped and was restarted' : ''}` };
  },
};

export function reasonMountFails(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'mandate-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', directory], { stdio: 'pipe' });
    execFileSync('umount', [directory]);
    return undefined;
  } catch (error) {
    return `cannot mount a file system: ${String(error)}`;
  } finally {
    rmdirSync(directory);
  }
}

/** Two servers on a PostgreSQL server with a small disk (tmpfs). WAL segments are small, so that PostgreSQL soon needs another segment. */
export const diskFullScenario: Scenario<PostgresqlEnvironment> = {
  missing: reasonMountFails,
  async open() {
    const postgresql = await startDurablePostgresql({
      initdb: ['--wal-segsize=1'],
      settings: ['wal_recycle=off', 'max_wal_size=32MB', 'min_wal_size=2MB'],
      async prepare(data, { uid, gid }) {
        await mkdir(data, { mode: 0o700 });
        await mountSmallDisk(data, uid === undefined ? '' : `,uid=${uid},gid=${gid}`);
      },
    });
    return new PostgresqlEnvironment(await startServers(2, () => ({ DATABASE_URL: postgresql.url })), postgresql);
  },
  faults: [fillDisk],
};
