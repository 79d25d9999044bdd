import { describe, expect, test } from 'vitest';
import { createProblemResponse, startStubServer } from '../../sdk/stub-server.ts';
import { runInProcess } from '../run-command-line.ts';

const env = (url: string) => ({ env: { MANDATE_API_URL: url, MANDATE_TOKEN: 'secret' } });

describe('mandate api', () => {
  test('requests any path and sends the fields of a GET request in the query', async () => {
    await using server = await startStubServer(() => ({ body: { id: 1 } }));
    const { exitCode, stdout } = await runInProcess(
      ['api', '/api/v1/orders', '-X', 'get', '-f', 'status=paid', '-F', 'limit=5'],
      env(server.url),
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '{"id":1}\n' });
    expect(server.seen[0]).toMatchObject({ method: 'GET', url: '/api/v1/orders?status=paid&limit=5', body: '' });
  });

  test('sends nested and typed fields as a body, with an idempotency key', async () => {
    await using server = await startStubServer(() => ({ status: 201, body: {} }));
    const argv = [
      'api',
      '/api/v1/orders',
      '-f',
      'delivery[method]=pickup',
      '-F',
      'items[]=1',
      '-F',
      'items[]=true',
      '-F',
      'note=null',
      '-f',
      'reference=7',
      '-H',
      'X-Extra: yes',
    ];
    expect((await runInProcess(argv, env(server.url))).exitCode).toBe(0);
    const [sent] = server.seen;
    expect(sent).toMatchObject({
      method: 'POST',
      headers: { 'x-extra': 'yes', 'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(JSON.parse(sent?.body ?? '')).toEqual({ delivery: { method: 'pickup' }, items: [1, true], note: null, reference: '7' });
  });

  test('reads the body from standard input', async () => {
    await using server = await startStubServer(() => ({ body: {} }));
    await runInProcess(['api', '/api/v1/orders', '--input', '-'], { ...env(server.url), stdin: '{"note":"x"}' });
    expect(server.seen[0]).toMatchObject({ method: 'POST', body: '{"note":"x"}' });
  });

  test('prints status and headers with --include, and no body with --silent', async () => {
    await using server = await startStubServer(() => ({ body: { id: 1 } }));
    const { stdout } = await runInProcess(['api', '/api/v1/orders/1', '-i', '--silent'], env(server.url));
    expect(stdout).toMatch(/^HTTP 200\n/);
    expect(stdout).toContain('x-request-id: req_1\n');
    expect(stdout).not.toContain('{');
  });

  test('prints all pages as one document with --paginate', async () => {
    await using server = await startStubServer((_, count) => ({
      body: { data: [{ id: count }], has_more: count < 3, next_cursor: count < 3 ? `c${count}` : null },
    }));
    const { stdout } = await runInProcess(['api', '/api/v1/orders', '--paginate'], env(server.url));
    expect(JSON.parse(stdout).data).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  test('reports errors in the same way as all other commands', async () => {
    await using server = await startStubServer(() => createProblemResponse(404, 'not_found'));
    expect(await runInProcess(['api', '/api/v1/orders/9'], env(server.url))).toMatchObject({
      exitCode: 6,
      stdout: '',
      stderr: expect.stringContaining('HTTP 404'),
    });
  });

  test.each(['https://evil.example/x', '//evil.example/x', '/\\evil.example/x', 'api/v1/orders', ''])(
    'rejects the path %j, so that the token is not sent to another origin',
    async (path) => {
      expect(await runInProcess(['api', path], env('http://127.0.0.1:9'))).toMatchObject({ exitCode: 2, stdout: '' });
    },
  );

  test.each([[['-H', 'Authorization: Bearer x']], [['-H', 'nonsense']], [['-f', 'nonsense']], [['-X', 'G ET']], [['--input', '-']]])(
    'rejects %j',
    async (more) => {
      expect(await runInProcess(['api', '/api/v1/orders', ...more], env('http://127.0.0.1:9'))).toMatchObject({ exitCode: 2, stdout: '' });
    },
  );
});
