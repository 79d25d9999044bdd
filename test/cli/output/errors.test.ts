import { describe, expect, test } from 'vitest';
import { createProblemResponse, startStubServer, type StubResponse } from '../../sdk/stub-server.ts';
import { runInProcess } from '../run-command-line.ts';

const at = (url: string, more: Record<string, string> = {}) => ({ env: { MANDATE_API_URL: url, MANDATE_TOKEN: 'secret-token', ...more } });

const createOrderArguments = 'orders create --item product_id=1,quantity=1 --delivery.method pickup --delivery.recipient-name Ann'.split(
  ' ',
);

describe('exit codes', () => {
  const statuses: [number, string, number][] = [
    [400, 'invalid_request', 8],
    [401, 'invalid_token', 4],
    [403, 'forbidden', 5],
    [404, 'not_found', 6],
    [409, 'out_of_stock', 7],
    [410, 'gone', 6],
    [412, 'precondition_failed', 7],
    [413, 'payload_too_large', 8],
    [415, 'unsupported_media_type', 8],
    [418, 'teapot', 1],
    [422, 'idempotency_key_reused', 8],
    [428, 'precondition_required', 8],
    [501, 'not_implemented', 10],
  ];

  test.each(statuses)('HTTP %i %s exits with code %i', async (status, code, exitCode) => {
    await using server = await startStubServer(() => createProblemResponse(status, code));
    const asText = await runInProcess(['orders', 'get', '42'], at(server.url));
    expect(asText).toMatchObject({ exitCode, stdout: '' });
    expect(asText.stderr).toMatch(new RegExp(`^error: Detail of ${code}\n(hint: .*\n)?\\(${code}, HTTP ${status}, request req_stub\\)\n$`));
    const asJson = await runInProcess(['orders', 'get', '42', '--json'], at(server.url));
    expect(asJson).toMatchObject({ exitCode, stdout: '' });
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      error: { code, status, message: `Detail of ${code}`, requestId: 'req_stub', exitCode },
    });
  });

  test.each([
    [429, 9],
    [503, 10],
  ])('HTTP %i with a long Retry-After exits immediately with code %i', async (status, exitCode) => {
    await using server = await startStubServer(() => ({
      ...createProblemResponse(status, 'unavailable'),
      headers: { 'retry-after': '3600' },
    }));
    expect((await runInProcess(['orders', 'get', '42'], at(server.url))).exitCode).toBe(exitCode);
    expect(server.seen).toHaveLength(1);
  });

  test('an unreachable service exits with code 11 and names the URL', async () => {
    const { exitCode, stdout, stderr } = await runInProcess(['orders', 'get', '42'], at('http://127.0.0.1:9'));
    expect({ exitCode, stdout }).toEqual({ exitCode: 11, stdout: '' });
    expect(stderr).toContain('http://127.0.0.1:9');
    expect(stderr).toContain('MANDATE_API_URL');
  });

  test('an HTML page from a proxy exits with the code of its status', async () => {
    await using server = await startStubServer(() => ({ status: 404, body: '<html><script>alert(1)</script>' }));
    const { exitCode, stderr } = await runInProcess(['orders', 'get', '42'], at(server.url));
    expect(exitCode).toBe(6);
    expect(stderr).not.toContain('<html>');
  });

  test('a missing sign-in exits with code 4 before any request', async () => {
    await using server = await startStubServer(() => ({ body: {} }));
    const { exitCode, stderr } = await runInProcess(['orders', 'list'], { env: { MANDATE_API_URL: server.url } });
    expect(exitCode).toBe(4);
    expect(stderr).toContain('hint: Sign in with: mandate login');
    expect(server.seen).toEqual([]);
  });

  test('Ctrl-C exits with code 130', async () => {
    await using server = await startStubServer(() => ({ body: {}, delayMs: 5000 }));
    const { exitCode, stdout } = await runInProcess(['orders', 'get', '42'], { ...at(server.url), interrupted: AbortSignal.timeout(100) });
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
  });

  test('a server that does not respond in time exits with code 11', async () => {
    await using server = await startStubServer(() => ({ body: {}, delayMs: 5000 }));
    const argv = [...createOrderArguments, '--timeout', '50ms', '--idempotency-key', 'key-7'];
    const { exitCode, stderr } = await runInProcess(argv, at(server.url));
    expect(exitCode).toBe(11);
    expect(stderr).toContain('hint: The request may have been executed. Retry it safely with: --idempotency-key key-7');
  });

  test('plain http to another machine is rejected', async () => {
    expect(await runInProcess(['products', 'list'], at('http://shop.example'))).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('use https'),
    });
  });
});

describe('an error', () => {
  test('names the flags that the service rejected', async () => {
    const errors = [
      { in: 'body', pointer: '#/delivery/country', code: 'required', detail: 'is needed for this method' },
      { in: 'body', pointer: '#/items/0/quantity', code: 'out_of_range', detail: 'must be smaller' },
    ];
    await using server = await startStubServer(() => createProblemResponse(400, 'invalid_request', { errors }));
    const argv = createOrderArguments;
    const { exitCode, stderr } = await runInProcess(argv, at(server.url));
    expect(exitCode).toBe(8);
    expect(stderr).toContain('  --delivery.country: is needed for this method\n  --item[0].quantity: must be smaller\n');
    const asJson = await runInProcess([...argv, '--json'], at(server.url));
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      error: {
        fields: [
          { flag: '--delivery.country', path: 'delivery.country' },
          { flag: '--item[0].quantity', path: 'items.0.quantity' },
        ],
      },
    });
  });

  test('is printed once if only one field is invalid', async () => {
    const errors = [{ in: 'body', pointer: '#/note', code: 'too_long', detail: 'must be shorter' }];
    await using server = await startStubServer(() =>
      createProblemResponse(400, 'invalid_request', { detail: '#/note: must be shorter', errors }),
    );
    const { stderr } = await runInProcess(['api', '/api/v1/orders', '-f', 'note=x'], at(server.url));
    expect(stderr).toMatch(/^error: #\/note: must be shorter\n\(/);
    const derived = await runInProcess(['orders', 'create', '--input', '-'], {
      ...at(server.url),
      stdin: '{"items":[{"product_id":1,"quantity":1}],"delivery":{"method":"pickup","recipient_name":"Ann"},"note":"x"}',
    });
    expect(derived.stderr).toMatch(/^error: Title of invalid_request\n {2}--note: must be shorter\n\(/);
  });

  test('for a missing order suggests listing orders', async () => {
    await using server = await startStubServer(() => createProblemResponse(404, 'not_found'));
    expect((await runInProcess(['orders', 'get', '42'], at(server.url))).stderr).toContain('hint: Find the ID with: mandate orders list');
  });

  test('for a missing scope suggests requesting it', async () => {
    await using server = await startStubServer(() => createProblemResponse(403, 'insufficient_scope'));
    expect((await runInProcess(['orders', 'list'], at(server.url))).stderr).toContain(
      'hint: Request the scope with: mandate login --scopes +orders.read',
    );
  });

  test('replaces control characters in messages of the service', async () => {
    await using server = await startStubServer(() => createProblemResponse(404, 'not_found', { detail: 'gone\u001b[2J\u009b1mx\r\n' }));
    const { stderr } = await runInProcess(['orders', 'get', '42'], at(server.url));
    expect(stderr).toContain('error: gone\uFFFD[2J\uFFFD1mx\uFFFD\uFFFD\n');
  });

  test.each<[string, StubResponse]>([
    ['a rejected token', createProblemResponse(401, 'invalid_token')],
    ['a server error', { status: 500, body: 'oops', headers: { 'retry-after': '9999' } }],
  ])('contains no token for %s, even with --debug', async (_, answer) => {
    await using server = await startStubServer(() => answer);
    const { stdout, stderr } = await runInProcess(['orders', 'get', '42', '--debug'], at(server.url));
    expect(stderr).toContain('> GET');
    expect(stdout + stderr).not.toContain('secret-token');
  });
});
