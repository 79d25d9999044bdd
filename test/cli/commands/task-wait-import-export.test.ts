import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { maxImportRowBytes, importFileLimitsText } from '@mandate/contract';
import { maxImportFileRowBytes } from '../../../cli/files/check-import-file.ts';
import { createProblemResponse, startStubServer, type SeenRequest, type StubResponse, type StubServer } from '../../sdk/stub-server.ts';
import { runInProcess, type CommandOutcome } from '../run-command-line.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mandate-files-'));
});
afterEach(() => rm(directory, { recursive: true }));

const env = ({ url }: StubServer) => ({ MANDATE_API_URL: url, MANDATE_TOKEN: 'secret', TZ: 'UTC' });
const csv = 'id,total\r\n1,100\r\n';
const sha256 = createHash('sha256').update(csv).digest('hex');
const final = { finished_at: '2026-11-20T12:00:00.000Z', error: null };
const task = (processed: number, more: Record<string, unknown> = {}) => ({
  id: 7,
  type: 'order_export',
  status: 'running',
  params: {},
  progress: { processed, total: 100 },
  result: null,
  error: null,
  finished_at: null,
  ...more,
});
const succeeded = task(100, { ...final, status: 'succeeded', result: { rows: 1, bytes: csv.length, sha256, imported: null } });

/** Starts a server that reports the task as finished in response to the third status request. */
const startTaskServer = (ended: object, file: StubResponse = { body: csv }): Promise<StubServer> => {
  let statusRequests = 0;
  return startStubServer(({ method, url }: SeenRequest): StubResponse => {
    if (method === 'POST') return { status: 202, body: task(0, { status: 'queued' }) };
    if (url.endsWith('/result')) return file;
    return { body: (statusRequests += 1) < 3 ? task(statusRequests * 40) : ended };
  });
};

describe('tasks wait', () => {
  const wait = (server: StubServer, columns?: number): Promise<CommandOutcome> =>
    runInProcess(['tasks', 'wait', '7', '--interval', '110ms', '--json'], { env: env(server), ...(columns !== undefined && { columns }) });

  test('prints each status change on a separate line, then the task', async () => {
    await using server = await startTaskServer(succeeded);
    const { exitCode, stdout, stderr } = await wait(server);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'order export running 40/100\norder export succeeded 100/100\n' });
    expect(JSON.parse(stdout)).toEqual(succeeded);
  });

  test('draws a progress bar on one line of a terminal and erases it at the end', async () => {
    await using server = await startTaskServer(succeeded);
    const { stderr } = await wait(server, 80);
    expect(stderr).toContain('order export [████████░░░░░░░░░░░░] 40% 40/100');
    expect(stderr).toContain('order export [████████████████░░░░] 80% 80/100');
    expect(stderr).not.toContain('\n');
    expect(stderr.endsWith('\r\u001b[K')).toBe(true);
  });

  test.each([
    ['failed', { code: 'malformed_csv', detail: 'The file ends within quotes.' }, 'error: The file ends within quotes.\n'],
    ['canceled', null, 'error: Task 7 was canceled\n'],
  ])('exits with code 12 if the task is %s', async (status, error, message) => {
    await using server = await startTaskServer(task(80, { ...final, status, error }));
    const { exitCode, stderr } = await runInProcess(['tasks', 'wait', '7', '--interval', '10ms', '-q'], { env: env(server) });
    expect({ exitCode, stderr }).toEqual({ exitCode: 12, stderr: message });
  });

  test('exits with code 13 when --max-wait elapses and prints how to continue', async () => {
    await using server = await startStubServer(() => ({ body: task(40) }));
    const outcome = await runInProcess(['tasks', 'wait', '7', '--interval', '20ms', '--max-wait', '100ms', '-q'], { env: env(server) });
    expect(outcome).toEqual({
      exitCode: 13,
      stdout: '',
      stderr: 'error: Task 7 did not finish within 0.1 s\nhint: The task is still running. To wait for it, run: mandate tasks wait 7\n',
    });
  });

  test('exits with code 130 on Ctrl-C and reports that the task continues', async () => {
    await using server = await startStubServer(() => ({ body: task(40) }));
    const outcome = await runInProcess(['tasks', 'wait', '7', '-q'], { env: env(server), interrupted: AbortSignal.timeout(100) });
    expect(outcome).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('The task is still running') });
  });

  test.each([['0'], ['x']])('rejects the task id %j', async (id) => {
    expect(await runInProcess(['tasks', 'wait', id])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('<task-id>: ') });
  });
});

describe('orders export', () => {
  const runExport = (server: StubServer, ...argv: string[]): Promise<CommandOutcome> =>
    runInProcess(['orders', 'export', '--interval', '10ms', '-q', ...argv], { env: env(server) });

  test('writes only the file and does not overwrite it without -y', async () => {
    await using server = await startTaskServer(succeeded);
    const path = join(directory, 'orders.csv');
    expect(await runExport(server, '-o', path, '--status', 'paid')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({ status: ['paid'] });
    expect([await readFile(path, 'utf8'), await readdir(directory)]).toEqual([csv, ['orders.csv']]);
    const requests = server.seen.length;
    expect(await runExport(server, '-o', path)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Overwrite it with: -y') });
    expect(server.seen).toHaveLength(requests);
    expect((await runExport(server, '-o', path, '-y')).exitCode).toBe(0);
  });

  test('writes the unchanged file to standard output in a pipe', async () => {
    await using server = await startTaskServer(succeeded);
    expect(await runExport(server)).toEqual({ exitCode: 0, stdout: csv, stderr: '' });
  });

  test.each<[string, StubResponse]>([
    ['is interrupted', { body: csv, headers: { 'content-length': '5000' }, cut: 'within' }],
    ['is damaged', { body: csv.replace('100', '900') }],
    ['no longer exists', createProblemResponse(410, 'gone')],
  ])('leaves no file behind if the download %s', async (_, file) => {
    await using server = await startTaskServer(succeeded, file);
    const { exitCode, stdout } = await runExport(server, '-o', join(directory, 'orders.csv'));
    expect({ failed: exitCode !== 0, stdout }).toEqual({ failed: true, stdout: '' });
    expect(await readdir(directory)).toEqual([]);
  });

  test('downloads no file of a failed export', async () => {
    await using server = await startTaskServer(task(0, { ...final, status: 'failed', error: { code: 'gave_up', detail: 'No.' } }));
    const path = join(directory, 'orders.csv');
    expect(await runExport(server, '-o', path)).toMatchObject({ exitCode: 12, stderr: 'error: No.\n' });
    expect(existsSync(path)).toBe(false);
  });
});

describe('products import', () => {
  const counts = { created: 2, updated: 0, unchanged: 0, refused: 12, differing: 3 };
  const remarks = Array.from({ length: 12 }, (_, n) =>
    JSON.stringify({ line: n + 2, field: 'price', code: 'invalid_value', detail: 'Bad\u001b[2J' }),
  );
  const report = remarks.map((line) => `${line}\n`).join('');
  const result = { rows: 12, bytes: report.length, sha256: createHash('sha256').update(report).digest('hex'), imported: counts };
  const ended = task(14, { ...final, type: 'product_import', imported: counts, status: 'succeeded', result });
  const upload = 'sku,name\nA,Ä\n';

  test.each([
    ['products.csv', upload, 'text/csv'],
    ['products.csv.gz', gzipSync(upload), 'text/csv'],
    ['products.ndjson', '{"sku":"A"}', 'application/x-ndjson'],
  ])('uploads %s with its media type and prints the result', async (name, content, contentType) => {
    await using server = await startTaskServer(ended, { body: report });
    await writeFile(join(directory, name), content);
    const argv = ['products', 'import', join(directory, name), '--sku-column', 'SKU', '--dry-run', '--interval', '10ms', '--get', 'id'];
    const { exitCode, stdout, stderr } = await runInProcess(argv, { env: env(server) });
    expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: '7\n' });
    expect(server.seen[0]).toMatchObject({
      url: '/api/v1/product-imports?sku_column=SKU&dry_run=true',
      body: name.endsWith('.gz') ? upload : content,
      headers: { 'content-type': contentType, 'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(stderr).toContain(
      '2 created, 0 updated, 0 unchanged, 12 rejected (3 previously imported with different data).\nNumber of messages about individual lines: 12\n  line 2 price: Bad\uFFFD[2J\n',
    );
    expect(stderr.split('\n').filter((line) => line.startsWith('  line'))).toHaveLength(10);
    expect(stderr).toContain('Get the complete report with: mandate tasks result 7 -o report.ndjson\n');
    expect(stderr).toContain('error: 12 rows or orders were rejected\n');
  });

  test('reads standard input and writes the report to the file that --report specifies', async () => {
    await using server = await startTaskServer(ended, { body: report });
    const path = join(directory, 'report.ndjson');
    const outcome = await runInProcess(['products', 'import', '-', '--report', path, '--interval', '10ms'], {
      env: env(server),
      stdin: upload,
    });
    expect(outcome.exitCode, outcome.stderr).toBe(8);
    expect(server.seen[0]?.body).toBe(upload);
    expect(await readFile(path, 'utf8')).toBe(report);
  });

  test('has the same exit code after `tasks wait`', async () => {
    await using server = await startTaskServer(ended, { body: report });
    const { exitCode, stderr } = await runInProcess(['tasks', 'wait', '7', '--interval', '10ms', '-q'], { env: env(server) });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 8,
      stderr: expect.stringContaining('error: 12 rows or orders were rejected\n'),
    });
  });

  test.each([
    [['products', 'import', '/no/such/file'], 2, 'Cannot read /no/such/file'],
    [['products', 'import', '/tmp'], 2, '/tmp is not a file'],
    [['products', 'import', '-', '--format', 'xml'], 2, '--format must be csv or ndjson'],
    [['orders', 'import', '-'], 2, '--source: is required'],
    [['orders', 'import', '-', '--source', 'a', '--max-wait', 'long'], 2, '--max-wait must be a duration'],
  ])('rejects %j before it sends anything', async (argv, exitCode, reason) => {
    await using server = await startStubServer(() => ({ body: {} }));
    expect(await runInProcess(argv, { env: env(server) })).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(reason) });
    expect(server.seen).toEqual([]);
  });

  test('exits with code 0 if no row was rejected', async () => {
    const none = { ...counts, refused: 0, differing: 0 };
    await using server = await startTaskServer({ ...ended, imported: none, result: { ...result, rows: 0, imported: none } });
    const { exitCode, stderr } = await runInProcess(['products', 'import', '-', '--interval', '10ms'], { env: env(server), stdin: upload });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('2 created, 0 updated, 0 unchanged, 0 rejected.\n')]);
  });

  test.each([
    ['canceled', null, 'Canceled'],
    ['failed', { code: 'gave_up', detail: 'No.' }, 'Failed'],
  ])('prints the counts if the task is %s', async (status, error, word) => {
    await using server = await startTaskServer({ ...ended, ...task(5), ...final, type: 'product_import', status, error, imported: counts });
    const { exitCode, stderr } = await runInProcess(['products', 'import', '-', '--interval', '10ms'], { env: env(server), stdin: upload });
    expect(exitCode).toBe(12);
    expect(stderr).toContain(`${word} after 5 of 100 rows: 2 created, 0 updated, 0 unchanged, 12 rejected`);
  });

  test('shows the rate and the remaining time of the upload and the import', async () => {
    let statusRequests = 0;
    await using server = await startStubServer(({ method }: SeenRequest): StubResponse => {
      if (method === 'POST') return { status: 202, body: task(0, { status: 'queued', type: 'order_import' }) };
      statusRequests += 1;
      return {
        body: task(
          statusRequests * 10,
          statusRequests < 8 ? { type: 'order_import' } : { ...final, type: 'order_import', status: 'canceled' },
        ),
      };
    });
    const slow = (async function* () {
      for (let sent = 0; sent < 3; sent += 1) {
        yield Buffer.alloc(100_000, 'x\n');
        await new Promise((resolve) => setTimeout(resolve, 600));
      }
    })();
    const argv = ['orders', 'import', '-', '--source', 'a', '--interval', '300ms'];
    const { stderr } = await runInProcess(argv, { env: env(server), stdin: slow, columns: 100 });
    expect(stderr).toMatch(/upload 300\.0 kB \d+\.\d kB\/s/);
    expect(stderr).toMatch(/order import \[█+░+\] 70% 70\/100 \d\d rows\/s, 1s left/);
  });

  const header = 'reference,sku,name\n';
  test.each<[string, string | Buffer, string, RegExp]>([
    ['is empty', '', 'x.csv', /x\.csv is empty/],
    ['is not UTF-8', Buffer.from([0x73, 0x6b, 0x75, 0x0a, 0xff]), 'x.csv', /not valid UTF-8 near line 2/],
    ['ends within quotes', `${header}1,"A`, 'x.csv', /ends inside a quoted field/],
    ['ends within a row', `${header}1,A,B\n2,`, 'x.csv', /in the middle of line 3, which has 2 of 3 columns/],
    ['ends within a row, after CRLF', `${header.trim()}\r\n1,A,B\r\n2,A`, 'x.csv', /in the middle of line 3, which has 2 of 3 columns/],
    ['has a row that is too long', `${header}1,"${'x\n'.repeat(50_001)}",B\n`, 'x.csv', /a row of more than 100000 bytes/],
    ['has a line that is too long', `{"sku":"${'x'.repeat(100_001)}"}\n`, 'x.ndjson', /a row of more than 100000 bytes/],
    [
      'has a row that is too long after decompression',
      gzipSync(`${header}${'x'.repeat(100_001)},A,B\n`),
      'x.csv.gz',
      /a row of more than 100000 bytes/,
    ],
  ])('rejects a file that %s before it sends anything', async (_what, content, name, reason) => {
    await using server = await startStubServer(() => ({ body: {} }));
    await writeFile(join(directory, name), content);
    const { exitCode, stderr } = await runInProcess(['orders', 'import', join(directory, name), '--source', 'a'], { env: env(server) });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(reason) });
    expect(stderr).toContain('Nothing was sent.');
    expect(server.seen).toEqual([]);
  });

  test('accepts quotes, line breaks in cells and a missing line break at the end, like the service', async () => {
    await using server = await startTaskServer({ ...ended, result: { ...result, imported: { ...counts, refused: 0 } } }, { body: report });
    for (const text of [
      `${header}1,"A ""big"", \nred",B`,
      `\uFEFF${header}\n1,A,B\n\n`,
      'reference,sku\r1,A\r2,B',
      `${header}${'1,A,B\n'.repeat(50_000)}`,
    ]) {
      await writeFile(join(directory, 'x.csv'), text);
      const { exitCode, stderr } = await runInProcess(['products', 'import', join(directory, 'x.csv'), '--interval', '10ms'], {
        env: env(server),
      });
      expect(exitCode, stderr).toBe(0);
    }
  });

  test('has the same row limit as the service, and the help states every limit', async () => {
    expect(maxImportFileRowBytes).toBe(maxImportRowBytes);
    for (const group of ['orders', 'products']) {
      const { stdout } = await runInProcess([group, 'import', '--help']);
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(importFileLimitsText);
      expect(stdout).toContain('The exit code is 8 if any rows or orders');
    }
  });

  test('reports a file that cannot be decompressed', async () => {
    await using server = await startTaskServer(ended);
    const path = join(directory, 'broken.csv.gz');
    await writeFile(path, 'this is not gzip');
    const { exitCode, stderr } = await runInProcess(['products', 'import', path], { env: env(server) });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `error: Cannot decompress ${path}\n` });
  });
});
