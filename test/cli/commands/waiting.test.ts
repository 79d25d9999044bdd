import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importRowMax, uploadLimits } from '@mandate/contract';
import { rowMax } from '../../../cli/files/check-import-file.ts';
import { problem, stubServer, type SeenRequest, type StubAnswer, type StubServer } from '../../sdk/stub-server.ts';
import { runHere, type Outcome } from '../command-line.ts';

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

/** A service whose task is finished at the third look. */
const withTask = (ended: object, file: StubAnswer = { body: csv }): Promise<StubServer> => {
  let looks = 0;
  return stubServer(({ method, url }: SeenRequest): StubAnswer => {
    if (method === 'POST') return { status: 202, body: task(0, { status: 'queued' }) };
    if (url.endsWith('/result')) return file;
    return { body: (looks += 1) < 3 ? task(looks * 40) : ended };
  });
};

describe('tasks wait', () => {
  const wait = (server: StubServer, columns?: number): Promise<Outcome> =>
    runHere(['tasks', 'wait', '7', '--interval', '110ms', '--json'], { env: env(server), ...(columns !== undefined && { columns }) });

  test('tells each change of state in a line of its own, and gives the task', async () => {
    await using server = await withTask(succeeded);
    const { exitCode, stdout, stderr } = await wait(server);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'order export running 40/100\norder export succeeded 100/100\n' });
    expect(JSON.parse(stdout)).toEqual(succeeded);
  });

  test('draws a bar on a terminal, in one line, and wipes it away', async () => {
    await using server = await withTask(succeeded);
    const { stderr } = await wait(server, 80);
    expect(stderr).toContain('order export [████████░░░░░░░░░░░░] 40% 40/100');
    expect(stderr).toContain('order export [████████████████░░░░] 80% 80/100');
    expect(stderr).not.toContain('\n');
    expect(stderr.endsWith('\r\u001b[K')).toBe(true);
  });

  test.each([
    ['failed', { code: 'malformed_csv', detail: 'The file ends within quotes.' }, 'error: The file ends within quotes.\n'],
    ['canceled', null, 'error: Task 7 was canceled\n'],
  ])('ends with 12 when it has %s', async (status, error, told) => {
    await using server = await withTask(task(80, { ...final, status, error }));
    const { exitCode, stderr } = await runHere(['tasks', 'wait', '7', '--interval', '10ms', '-q'], { env: env(server) });
    expect({ exitCode, stderr }).toEqual({ exitCode: 12, stderr: told });
  });

  test('ends with 13 when the time is over, and says how to go on', async () => {
    await using server = await stubServer(() => ({ body: task(40) }));
    const outcome = await runHere(['tasks', 'wait', '7', '--interval', '20ms', '--max-wait', '100ms', '-q'], { env: env(server) });
    expect(outcome).toEqual({
      exitCode: 13,
      stdout: '',
      stderr: 'error: Task 7 is not finished after 0.1 s\nhint: The task goes on; wait for it with: mandate tasks wait 7\n',
    });
  });

  test('ends with 130 on Ctrl-C, and says that the task goes on', async () => {
    await using server = await stubServer(() => ({ body: task(40) }));
    const outcome = await runHere(['tasks', 'wait', '7', '-q'], { env: env(server), interrupted: AbortSignal.timeout(100) });
    expect(outcome).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('The task goes on') });
  });

  test.each([['0'], ['x']])('refuses the task %j', async (id) => {
    expect(await runHere(['tasks', 'wait', id])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('<task-id>: ') });
  });
});

describe('orders export', () => {
  const exported = (server: StubServer, ...argv: string[]): Promise<Outcome> =>
    runHere(['orders', 'export', '--interval', '10ms', '-q', ...argv], { env: env(server) });

  test('writes the file, and nothing else, and does not overwrite it unless told to', async () => {
    await using server = await withTask(succeeded);
    const path = join(directory, 'orders.csv');
    expect(await exported(server, '-o', path, '--status', 'paid')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({ status: ['paid'] });
    expect([await readFile(path, 'utf8'), await readdir(directory)]).toEqual([csv, ['orders.csv']]);
    const asked = server.seen.length;
    expect(await exported(server, '-o', path)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Overwrite it with: -y') });
    expect(server.seen).toHaveLength(asked);
    expect((await exported(server, '-o', path, '-y')).exitCode).toBe(0);
  });

  test('goes to standard output in a pipe, as it is', async () => {
    await using server = await withTask(succeeded);
    expect(await exported(server)).toEqual({ exitCode: 0, stdout: csv, stderr: '' });
  });

  test.each<[string, StubAnswer]>([
    ['breaks off', { body: csv, headers: { 'content-length': '5000' }, cut: 'within' }],
    ['comes damaged', { body: csv.replace('100', '900') }],
    ['is gone', problem(410, 'gone')],
  ])('leaves nothing behind when the file %s', async (_, file) => {
    await using server = await withTask(succeeded, file);
    const { exitCode, stdout } = await exported(server, '-o', join(directory, 'orders.csv'));
    expect({ failed: exitCode !== 0, stdout }).toEqual({ failed: true, stdout: '' });
    expect(await readdir(directory)).toEqual([]);
  });

  test('fetches nothing of an export that failed', async () => {
    await using server = await withTask(task(0, { ...final, status: 'failed', error: { code: 'gave_up', detail: 'No.' } }));
    const path = join(directory, 'orders.csv');
    expect(await exported(server, '-o', path)).toMatchObject({ exitCode: 12, stderr: 'error: No.\n' });
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
  ])('sends %s as what it is, and tells what became of it', async (name, content, contentType) => {
    await using server = await withTask(ended, { body: report });
    await writeFile(join(directory, name), content);
    const argv = ['products', 'import', join(directory, name), '--sku-column', 'SKU', '--dry-run', '--interval', '10ms', '--get', 'id'];
    const { exitCode, stdout, stderr } = await runHere(argv, { env: env(server) });
    expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: '7\n' });
    expect(server.seen[0]).toMatchObject({
      url: '/api/v1/product-imports?sku_column=SKU&dry_run=true',
      body: name.endsWith('.gz') ? upload : content,
      headers: { 'content-type': contentType, 'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(stderr).toContain(
      '2 created, 0 updated, 0 unchanged, 12 refused (3 imported before with different data).\nRemarks on lines of the file: 12\n  line 2 price: Bad\uFFFD[2J\n',
    );
    expect(stderr.split('\n').filter((line) => line.startsWith('  line'))).toHaveLength(10);
    expect(stderr).toContain('All of them: mandate tasks result 7 -o remarks.ndjson\n');
    expect(stderr).toContain('error: 12 of the rows or orders were refused\n');
  });

  test('reads standard input, and writes the report where it is told to', async () => {
    await using server = await withTask(ended, { body: report });
    const path = join(directory, 'report.ndjson');
    const outcome = await runHere(['products', 'import', '-', '--report', path, '--interval', '10ms'], { env: env(server), stdin: upload });
    expect(outcome.exitCode, outcome.stderr).toBe(8);
    expect(server.seen[0]?.body).toBe(upload);
    expect(await readFile(path, 'utf8')).toBe(report);
  });

  test('exits with the same code after `tasks wait`', async () => {
    await using server = await withTask(ended, { body: report });
    const { exitCode, stderr } = await runHere(['tasks', 'wait', '7', '--interval', '10ms', '-q'], { env: env(server) });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 8,
      stderr: expect.stringContaining('error: 12 of the rows or orders were refused\n'),
    });
  });

  test.each([
    [['products', 'import', '/no/such/file'], 2, '/no/such/file cannot be read'],
    [['products', 'import', '/tmp'], 2, '/tmp is not a file'],
    [['products', 'import', '-', '--format', 'xml'], 2, '--format is csv or ndjson'],
    [['orders', 'import', '-'], 2, '--source: is required'],
    [['orders', 'import', '-', '--source', 'a', '--max-wait', 'long'], 2, '--max-wait is written like'],
  ])('%j is refused before anything is sent', async (argv, exitCode, reason) => {
    await using server = await stubServer(() => ({ body: {} }));
    expect(await runHere(argv, { env: env(server) })).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(reason) });
    expect(server.seen).toEqual([]);
  });

  test('succeeds if nothing was refused', async () => {
    const none = { ...counts, refused: 0, differing: 0 };
    await using server = await withTask({ ...ended, imported: none, result: { ...result, rows: 0, imported: none } });
    const { exitCode, stderr } = await runHere(['products', 'import', '-', '--interval', '10ms'], { env: env(server), stdin: upload });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('2 created, 0 updated, 0 unchanged, 0 refused.\n')]);
  });

  test.each([
    ['canceled', null, 'Canceled'],
    ['failed', { code: 'gave_up', detail: 'No.' }, 'Failed'],
  ])('tells how much was imported when it is %s', async (status, error, word) => {
    await using server = await withTask({ ...ended, ...task(5), ...final, type: 'product_import', status, error, imported: counts });
    const { exitCode, stderr } = await runHere(['products', 'import', '-', '--interval', '10ms'], { env: env(server), stdin: upload });
    expect(exitCode).toBe(12);
    expect(stderr).toContain(`${word} after 5 of 100 rows: 2 created, 0 updated, 0 unchanged, 12 refused`);
  });

  test('shows the rate and the time left, of the upload and of the import', async () => {
    let looks = 0;
    await using server = await stubServer(({ method }: SeenRequest): StubAnswer => {
      if (method === 'POST') return { status: 202, body: task(0, { status: 'queued', type: 'order_import' }) };
      looks += 1;
      return { body: task(looks * 10, looks < 8 ? { type: 'order_import' } : { ...final, type: 'order_import', status: 'canceled' }) };
    });
    const slow = (async function* () {
      for (let sent = 0; sent < 3; sent += 1) {
        yield Buffer.alloc(100_000, 'x\n');
        await new Promise((resolve) => setTimeout(resolve, 600));
      }
    })();
    const argv = ['orders', 'import', '-', '--source', 'a', '--interval', '300ms'];
    const { stderr } = await runHere(argv, { env: env(server), stdin: slow, columns: 100 });
    expect(stderr).toMatch(/upload 300\.0 kB \d+\.\d kB\/s/);
    expect(stderr).toMatch(/order import \[█+░+\] 70% 70\/100 \d\d rows\/s, 1s left/);
  });

  const header = 'reference,sku,name\n';
  test.each<[string, string | Buffer, string, RegExp]>([
    ['is empty', '', 'x.csv', /x\.csv is empty/],
    ['is not UTF-8', Buffer.from([0x73, 0x6b, 0x75, 0x0a, 0xff]), 'x.csv', /not valid UTF-8 near line 2/],
    ['ends within quotes', `${header}1,"A`, 'x.csv', /ends within quotes/],
    ['ends within a row', `${header}1,A,B\n2,`, 'x.csv', /ends within line 3, which has 2 of 3 columns/],
    ['ends within a row, after CRLF', `${header.trim()}\r\n1,A,B\r\n2,A`, 'x.csv', /ends within line 3, which has 2 of 3 columns/],
    ['has a row that is too long', `${header}1,"${'x\n'.repeat(50_001)}",B\n`, 'x.csv', /a row of more than 100000 bytes/],
    ['has a line that is too long', `{"sku":"${'x'.repeat(100_001)}"}\n`, 'x.ndjson', /a row of more than 100000 bytes/],
    ['is too long when it is unpacked', gzipSync(`${header}${'x'.repeat(100_001)},A,B\n`), 'x.csv.gz', /a row of more than 100000 bytes/],
  ])('a file that %s is refused before anything is sent', async (_what, content, name, reason) => {
    await using server = await stubServer(() => ({ body: {} }));
    await writeFile(join(directory, name), content);
    const { exitCode, stderr } = await runHere(['orders', 'import', join(directory, name), '--source', 'a'], { env: env(server) });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(reason) });
    expect(stderr).toContain('Nothing was sent.');
    expect(server.seen).toEqual([]);
  });

  test('the check accepts what the service accepts: quotes, line breaks in cells, no line break at the end', async () => {
    await using server = await withTask({ ...ended, result: { ...result, imported: { ...counts, refused: 0 } } }, { body: report });
    for (const text of [
      `${header}1,"A ""big"", \nred",B`,
      `\uFEFF${header}\n1,A,B\n\n`,
      'reference,sku\r1,A\r2,B',
      `${header}${'1,A,B\n'.repeat(50_000)}`,
    ]) {
      await writeFile(join(directory, 'x.csv'), text);
      const { exitCode, stderr } = await runHere(['products', 'import', join(directory, 'x.csv'), '--interval', '10ms'], {
        env: env(server),
      });
      expect(exitCode, stderr).toBe(0);
    }
  });

  test('the check has the limit of the service, and the help states every limit', async () => {
    expect(rowMax).toBe(importRowMax);
    for (const group of ['orders', 'products']) {
      const { stdout } = await runHere([group, 'import', '--help']);
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(uploadLimits);
      expect(stdout).toContain('The exit code is 8 if any row or order was rejected');
    }
  });

  test('a file that cannot be unpacked is said to be one', async () => {
    await using server = await withTask(ended);
    const path = join(directory, 'broken.csv.gz');
    await writeFile(path, 'this is not gzip');
    const { exitCode, stderr } = await runHere(['products', 'import', path], { env: env(server) });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `error: ${path} cannot be unpacked\n` });
  });
});
