import { describe, expect, test } from 'vitest';
import { createClient, waitForApproval, WaitTimeoutError } from '@mandate/client-sdk';
import { startStubServer, type StubResponse } from '../stub-server.ts';

const approval = (status: string): StubResponse => ({ body: { id: 3, status } });

describe('waiting for an approval', () => {
  test.each(['approved', 'declined', 'canceled', 'expired', 'used'])('ends when it is %s', async (status) => {
    await using server = await startStubServer((_, count) => approval(count < 2 ? 'pending' : status));
    expect(await waitForApproval(createClient({ baseUrl: server.url }), 3)).toMatchObject({ id: 3, status });
    expect(server.seen.map(({ url }) => url)).toEqual(['/api/v1/approvals/3?wait=25', '/api/v1/approvals/3?wait=25']);
  });

  test('sends at most one request per second if the service responds without waiting', async () => {
    await using server = await startStubServer((_, count) => approval(count < 2 ? 'pending' : 'approved'));
    const begun = Date.now();
    await waitForApproval(createClient({ baseUrl: server.url }), 3);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(950);
  });

  test('fails after the maximum wait', async () => {
    await using server = await startStubServer(() => approval('pending'));
    const waiting = waitForApproval(createClient({ baseUrl: server.url }), 3, { maxWaitMs: 500 });
    await expect(waiting).rejects.toThrow(WaitTimeoutError);
    await expect(waiting).rejects.toThrow('Approval 3 is still pending after 0.5 s');
    expect(server.seen.map(({ url }) => url)).toEqual(['/api/v1/approvals/3?wait=0']);
  });

  test('can be aborted', async () => {
    await using server = await startStubServer(() => approval('pending'));
    const controller = new AbortController();
    const waiting = waitForApproval(createClient({ baseUrl: server.url }), 3, { signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  });
});
