import { setTimeout as sleep } from 'node:timers/promises';
import { commandLine } from '../../support/oauth/oauth-flow.ts';
import { ask, isExcused, type Reply } from '../traffic/request.ts';
import { forEach, sample, type Findings } from './violations.ts';
import type { Load } from '../traffic/load.ts';

/** Spent codes and tokens that are tried once more. */
const triedMax = 100;

/** What was revoked or used up opens nothing at any server, and what nobody has used yet still does. */
export async function auditAccess({ administration: { stage }, ledger }: Load, findings: Findings): Promise<void> {
  for (const { env } of stage.servers) {
    const me = `http://localhost:${env['PORT']}/api/v1/users/me`;
    await forEach(sample(ledger.revoked, triedMax), async (revoked) => {
      const { status } = await answered(() => ask(me, { headers: { authorization: `Bearer ${revoked}` } }));
      if (status !== 401) findings.letIn.push(`a revoked access token was answered ${status}`);
    });
  }
  const token = (form: Readonly<Record<string, string>>): Promise<Reply> =>
    answered(() => ask(`${stage.front.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) }));
  for (const standing of ledger.standing) {
    const { status, text } = await token({ grant_type: 'refresh_token', refresh_token: standing, client_id: commandLine.clientId });
    if (status !== 200) findings.lost.push(`a refresh token was answered ${status}: ${text}`);
  }
  // last, because it ends everything that came of them
  await forEach(sample(ledger.spent, triedMax), async ({ kind, form }) => {
    const { status } = await token(form);
    if (status !== 400) findings.letIn.push(`a spent ${kind} was answered ${status}`);
  });
}

/** The first answer that says something about what was sent. */
async function answered(request: () => Promise<Reply>): Promise<Reply> {
  for (const end = Date.now() + 60_000; ; await sleep(100)) {
    const reply = await request();
    if (!isExcused(reply.status) || Date.now() > end) return reply;
  }
}
