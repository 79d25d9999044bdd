import { setTimeout as sleep } from 'node:timers/promises';
import { cliClient } from '../../support/oauth/oauth-flow.ts';
import { sendRequest, isUnavailable, type HttpResult } from '../traffic/send-request.ts';
import { forEachConcurrently, sampleEvenly } from './concurrency.ts';
import type { Findings } from './findings.ts';
import type { Load } from '../traffic/load.ts';

/** Maximum number of used codes and tokens that are replayed. */
const replaysMax = 100;

/** Checks that every server rejects revoked and used credentials, and that unused refresh tokens still work. */
export async function auditAccess({ administration: { environment }, ledger }: Load, findings: Findings): Promise<void> {
  for (const { env } of environment.servers) {
    const me = `http://localhost:${env['PORT']}/api/v1/users/me`;
    await forEachConcurrently(sampleEvenly(ledger.revoked, replaysMax), async (revoked) => {
      const { status } = await responseOf(() => sendRequest(me, { headers: { authorization: `Bearer ${revoked}` } }));
      if (status !== 401) findings.wronglyAccepted.push(`a revoked access token returned ${status}`);
    });
  }
  const token = (form: Readonly<Record<string, string>>): Promise<HttpResult> =>
    responseOf(() => sendRequest(`${environment.loadBalancer.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) }));
  for (const refreshToken of ledger.unusedRefreshTokens) {
    const { status, text } = await token({
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: cliClient.clientId,
    });
    if (status !== 200) findings.lost.push(`a refresh token returned ${status}: ${text}`);
  }
  // this check runs last, because replaying a used credential revokes all tokens of the same grant
  await forEachConcurrently(sampleEvenly(ledger.usedCredentials, replaysMax), async ({ kind, form }) => {
    const { status } = await token(form);
    if (status !== 400) findings.wronglyAccepted.push(`a used ${kind} returned ${status}`);
  });
}

/** Retries while the server is unavailable, and returns the first conclusive response. */
async function responseOf(request: () => Promise<HttpResult>): Promise<HttpResult> {
  for (const end = Date.now() + 60_000; ; await sleep(100)) {
    const result = await request();
    if (!isUnavailable(result.status) || Date.now() > end) return result;
  }
}
