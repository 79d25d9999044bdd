import { mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createBackupTaskHandlers } from '../../../server/backup/backup-task-handlers.ts';
import {
  createBackupFileSyncAndCleanupJob,
  syncBackupFileRowsWithDirectory,
} from '../../../server/backup/sync-backup-file-rows-with-directory.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { createTaskRunnerAndCleanupJobs } from '../../../server/tasks/task-runner-and-cleanup-jobs.ts';
import { backupKey, writeTestBackup } from '../../support/server/backup-file.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { createMigratedDatabase } from '../../support/services/database.ts';
import { administratorStatuses, testAuthorization } from '../../support/shop/authorization-matrix.ts';
import { runPendingTasks } from '../../support/shop/run-tasks.ts';
import { withShop } from '../../support/shop/with-shop.ts';

/** A user can have at most two unfinished tasks. */
const cancelTasks = (): Promise<unknown> =>
  shop.db.em.fork().execute(`update tasks set status = 'canceled', finished_at = now() where status in ('queued', 'running')`);

async function insertBackup(): Promise<number> {
  const [row] = await shop.db.em
    .fork()
    .execute<{ id: number }[]>(
      `insert into backup_files (file_name, created_at, bytes, row_count) select count(*) || '.backup', '2026-11-20', 1, 1 from backup_files returning id`,
    );
  await cancelTasks();
  return Number(row?.id);
}

const { shop, tokens } = testAuthorization({
  'backups.list': {
    send: async () => {
      await insertBackup();
      return ['GET', '/backups'];
    },
    statuses: administratorStatuses(200),
  },
  'backups.create': {
    send: async () => {
      await cancelTasks();
      return ['POST', '/backups', {}];
    },
    statuses: administratorStatuses(202),
  },
  'backups.check': { send: async () => ['POST', `/backups/${await insertBackup()}/checks`, {}], statuses: administratorStatuses(202) },
});

const log = createLogger(true, { write: () => undefined });
let directory: string;
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'mandate-backups-'))));
afterAll(() => rm(directory, { recursive: true, force: true }));

const call = (method: string, path: string): Promise<ApiResponse> => shop.callApi(method, `/api/v1${path}`, { token: tokens.admin ?? '' });
const listBackups = async (): Promise<JsonBody[]> => (await call('GET', '/backups')).body.data;

/** Runs the task that the request started, and returns the task. Backup tasks read a separate database, not the server's database. */
async function runTask(started: ApiResponse, path = directory): Promise<JsonBody> {
  expect([started.status, started.body]).toEqual([202, expect.objectContaining({ status: 'queued' })]);
  const handlers = createBackupTaskHandlers({ path, key: backupKey, openSource: createMigratedDatabase });
  await runPendingTasks(shop, handlers, { log });
  const { body } = await call('GET', `/tasks/${started.body.id}`);
  expect(JSON.stringify(body)).not.toContain(path);
  return body;
}

describe('backups', () => {
  beforeEach(async () => {
    await shop.db.em.fork().execute('delete from backup_files');
    await cancelTasks();
    for (const name of await readdir(directory)) await rm(join(directory, name));
  });

  test('are created, checked and listed without paths, and audited', async () => {
    const task = await runTask(await call('POST', '/backups'));
    expect(task).toMatchObject({ type: 'backup', status: 'succeeded', params: {}, result: null, error: null });
    expect(task.progress.processed).toBe(task.progress.total);
    const [backup, ...others] = await listBackups();
    const { size, mode } = await stat(join(directory, backup.file_name));
    expect([others, mode & 0o777]).toEqual([[], 0o600]);
    expect(backup).toEqual({
      id: expect.any(Number),
      file_name: expect.stringMatching(/^mandate-\d{8}T\d{6}Z-\d+\.backup$/),
      created_at: expect.any(String),
      bytes: size,
      rows: task.progress.total / 2,
      checked_at: expect.any(String),
      check_result: 'intact',
    });
    const { body: file } = await call('GET', `/tasks/${task.id}/result`);
    expect([file.code, file.detail]).toEqual(['not_found', 'The task has no result file.']);
    const { body: audit } = await call('GET', '/audit-events?action=backup.started&limit=1');
    expect(audit.data[0]).toMatchObject({ subject: `task:${task.id}`, outcome: 'success' });
  });

  test('are reported as damaged or missing by a check', async () => {
    await runTask(await call('POST', '/backups'));
    const [{ id, file_name: name, checked_at: checkedAt }] = await listBackups();
    const check = (): Promise<ApiResponse> => call('POST', `/backups/${id}/checks`);
    expect(await runTask(await check())).toMatchObject({ type: 'backup_check', status: 'succeeded', params: { backup_id: id } });
    const [checked] = await listBackups();
    expect([checked.check_result, checked.checked_at > checkedAt]).toEqual(['intact', true]);

    await truncate(join(directory, name), checked.bytes - 10);
    expect(await runTask(await check())).toMatchObject({ status: 'failed', error: { code: 'backup_damaged' } });
    expect((await listBackups())[0]).toMatchObject({ id, check_result: 'damaged' });

    const missing = await check();
    await rm(join(directory, name));
    expect(await runTask(missing)).toMatchObject({ status: 'failed', error: { code: 'backup_missing' } });
    expect(await listBackups()).toEqual([]);
    expect((await check()).body.code).toBe('not_found');
  });

  test('leave no file if they fail or are canceled', async () => {
    const failed = await runTask(await call('POST', '/backups'), join(directory, 'nowhere'));
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'backup_failed' } });

    const { body: started } = await call('POST', '/backups');
    const cancelAndOpen = async () => {
      expect((await call('POST', `/tasks/${started.id}/cancellation`)).status).toBe(202);
      return createMigratedDatabase();
    };
    await runPendingTasks(shop, createBackupTaskHandlers({ path: directory, key: backupKey, openSource: cancelAndOpen }));
    expect((await call('GET', `/tasks/${started.id}`)).body.status).toBe('canceled');
    expect([await readdir(directory), await listBackups()]).toEqual([[], []]);
  });

  test('that a command has written are listed, but deleted ones are not', async () => {
    const register = (now = new Date()): Promise<void> =>
      syncBackupFileRowsWithDirectory(shop.db.em.fork(), { path: directory, key: backupKey }, now);
    const source = await createMigratedDatabase();
    await writeTestBackup(source, join(directory, 'nightly.backup'));
    await source.close();
    await runTask(await call('POST', '/backups'));
    await writeFile(join(directory, 'letter.backup'), 'not a backup');
    await writeFile(join(directory, 'mandate-1.backup.part'), 'left by a killed process');
    await register();
    await syncBackupFileRowsWithDirectory(
      shop.db.em.fork(),
      { path: directory, key: Buffer.from('the key of another installation') },
      new Date(),
    );
    const [newest, nightly, ...others] = await listBackups();
    expect([newest.check_result, others]).toEqual(['intact', []]);
    const { size } = await stat(join(directory, 'nightly.backup'));
    const unchecked = { checked_at: null, check_result: null };
    expect(nightly).toMatchObject({ file_name: 'nightly.backup', created_at: '2026-11-20T10:00:00.000Z', bytes: size, ...unchecked });
    expect((await readFile(join(directory, 'mandate-1.backup.part'))).length).toBeGreaterThan(0);

    // a backup whose file has changed counts as unchecked
    await truncate(join(directory, newest.file_name), 100);
    await rm(join(directory, 'nightly.backup'));
    await utimes(join(directory, 'mandate-1.backup.part'), 1, 1);
    await register();
    expect(await listBackups()).toEqual([{ ...newest, bytes: 100, ...unchecked }]);
    expect((await readdir(directory)).toSorted()).toEqual(['letter.backup', newest.file_name]);
  });

  test('are not started a second time after a slow copy of the database, during which the lease of the task expires', async () => {
    const { body: started } = await call('POST', '/backups');
    const signal = new AbortController().signal;
    // Copying an embedded database blocks all other transactions, including those that renew the lease.
    const copySlowly = async () => {
      const leaseExpired = Promise.withResolvers<void>();
      const second = leaseExpired.promise.then(() => secondJob?.run(signal));
      await shop.db.em.fork().transactional(async (em) => {
        await em.execute(`update tasks set lease_until = now() - interval '1 minute' where id = ?`, [started.id]);
        leaseExpired.resolve();
        await em.execute('select 1');
      });
      await second;
      return createMigratedDatabase();
    };
    const handlers = createBackupTaskHandlers({ path: directory, key: backupKey, openSource: copySlowly });
    const [firstJob, secondJob] = createTaskRunnerAndCleanupJobs({ em: shop.db.em, log, handlers });
    await firstJob?.run(signal);
    const [task] = await shop.db.em.fork().execute('select status, attempts from tasks where id = ?', [started.id]);
    expect([task, await readdir(directory)]).toEqual([{ status: 'succeeded', attempts: 1 }, [expect.stringMatching(/\.backup$/)]]);
  });

  test('are deleted after newer ones have replaced them, if a task created them', async () => {
    /** Adds a backup to the directory and to the list. */
    const add = async (fileName: string, createdAt: string, result: string | null = 'intact'): Promise<void> => {
      await writeFile(join(directory, fileName), 'x');
      await shop.db.em
        .fork()
        .execute('insert into backup_files (file_name, created_at, bytes, row_count, checked_at, check_result) values (?, ?, 1, 1, ?, ?)', [
          fileName,
          createdAt,
          result === null ? null : createdAt,
          result,
        ]);
    };
    await add('nightly.backup', '2026-11-01T00:00:00Z');
    await add('mandate-20261105T000000Z-1.backup', '2026-11-05T00:00:00Z', 'damaged');
    for (const day of ['06', '07']) await add(`mandate-202611${day}T000000Z-1.backup`, `2026-11-${day}T00:00:00Z`, 'intact');
    await add('mandate-20261107T120000Z-2.backup', '2026-11-07T12:00:00Z', 'damaged');
    for (const hour of ['10', '11', '12', '13'])
      await add(`mandate-20261108T${hour}0000Z-${hour}.backup`, `2026-11-08T${hour}:00:00Z`, null);
    const runJob = (keep: number) =>
      createBackupFileSyncAndCleanupJob(shop.db.em, { path: directory, key: backupKey, keep, log }).run(new AbortController().signal);
    const all = await listBackups();
    await runJob(0);
    expect(await listBackups()).toEqual(all);
    await runJob(2);
    const kept = [
      'mandate-20261107T000000Z-1.backup', // the newest intact backup, both of its day and of all days
      'mandate-20261107T120000Z-2.backup', // damaged, but newer than a backup that is kept
      'mandate-20261108T120000Z-12.backup',
      'mandate-20261108T130000Z-13.backup',
      'nightly.backup',
    ];
    expect(new Set((await listBackups()).map(({ file_name: name }) => name))).toEqual(new Set(kept));
    expect((await readdir(directory)).toSorted()).toEqual(kept);
    await runJob(1);
    expect((await readdir(directory)).toSorted()).toEqual(kept.filter((name) => !name.includes('T120000Z-12')));

    await shop.db.em.fork().execute(`update backup_files set checked_at = now(), check_result = 'damaged'`);
    const damaged = await readdir(directory);
    await runJob(1);
    expect(await readdir(directory)).toEqual(damaged);
  });

  test('are limited to two unfinished tasks for each user', async () => {
    for (const _ of [1, 2]) expect((await call('POST', '/backups')).status).toBe(202);
    expect((await call('POST', '/backups')).body.code).toBe('too_many_tasks');
    const id = await insertBackup();
    for (const _ of [1, 2]) expect((await call('POST', `/backups/${id}/checks`)).status).toBe(202);
    expect((await call('POST', `/backups/${id}/checks`)).body.code).toBe('too_many_tasks');
  });
});

describe('without a backup directory', () => {
  const unconfigured = withShop({ sampleData: false });
  const admin = unconfigured.admin(['backups.manage']);

  test.each([
    ['GET', '/backups'],
    ['POST', '/backups'],
    ['POST', '/backups/1/checks'],
  ])('%s %s states what the operator has to do', async (method, path) => {
    const { status, body } = await admin.callApi(method, `/api/v1${path}`);
    expect([status, body.code, body.detail]).toEqual([409, 'backups_not_configured', expect.stringContaining('MANDATE_BACKUP_DIR')]);
    const { body: german } = await admin.callApi(method, `/api/v1${path}`, { headers: { 'accept-language': 'de' } });
    expect(german.detail).toMatch(/^Setzen Sie die Umgebungsvariable MANDATE_BACKUP_DIR/);
  });
});
