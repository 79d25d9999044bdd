/**
 * `npm run sign-ins-during-import -- 100000 60` measures sign-ins at a constant rate, first on the otherwise idle server for the given
 * number of seconds (60), then while it imports the given number of users (100,000) with bcrypt hashes, and prints the results. With
 * `--weak`, the imported hashes are salted SHA-1, which the import wraps in argon2id.
 */
import { scopeNames } from '@mandate/contract';
import { z } from 'zod';
import { HttpBrowser } from '../support/browser/browser.ts';
import { obtainTokens, signIn } from '../support/oauth/oauth-flow.ts';
import { createDataDirectory, readFirstRunFile, startServerProcess } from '../support/server/server-process.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';
import { percentile } from './load-generator.ts';

const [users = 100_000, calmSeconds = 60] = process.argv
  .slice(2)
  .filter((word) => /^\d+$/.test(word))
  .map(Number);
const hash = process.argv.includes('--weak')
  ? 'sha1$saltsaltsalt$8198d4efff160a8266089ada2e30aef386b24976'
  : '$2b$10$LXfZIeUU1AS8Gk7.ueyFROphTldbu.PX/Lj0BrO8s2t9gumTi49X6';
const signInsPerSecond = 4;
const unlimited = { MANDATE_RATE_LIMIT: '1000000000', MANDATE_RATE_LIMIT_IP: '1000000000', MANDATE_MONTHLY_QUOTA: '1000000000' };
const task = z.object({
  id: z.number(),
  status: z.string(),
  progress: z.object({ processed: z.number() }),
  result: z.object({ imported: z.object({ created: z.number(), refused: z.number() }) }).nullable(),
});
type Task = z.output<typeof task>;
type Timed = { readonly ms: number };

const postgresql = await startPostgresql(await findPostgresql());
await using directory = await createDataDirectory();
const environment = { DATABASE_URL: postgresql.url, MANDATE_DATA_DIR: directory.path, MANDATE_TRUST_PROXY: '1', ...unlimited };
const server = await startServerProcess(environment);
try {
  const { administrator, customer } = await readFirstRunFile(directory.path);
  const { access_token: token } = await obtainTokens(server.url, { browser: await signIn(server.url, administrator) }, scopeNames);
  const sendSignIn = () => measureSignIn(customer);
  const warmUntil = performance.now() + 10_000;
  await sendSignIns(sendSignIn, () => Promise.resolve(performance.now() < warmUntil));
  const calmUntil = performance.now() + calmSeconds * 1000;
  const calm = await sendSignIns(sendSignIn, () => Promise.resolve(performance.now() < calmUntil));
  const importStartedAt = performance.now();
  let current = await startImport(token);
  const during = await sendSignIns(sendSignIn, async () => {
    current = await readTask(token, current.id);
    return current.status === 'queued' || current.status === 'running';
  });
  const seconds = (performance.now() - importStartedAt) / 1000;
  const row = (name: string, timed: readonly Timed[]): string =>
    `| ${name} | ${timed.length} | ${[0.5, 0.99, 1].map((share) => percentile(timed, share).toFixed(1)).join(' | ')} |`;
  process.stdout.write(
    [
      `Import: ${current.status}, ${JSON.stringify(current.result?.imported)}, ${seconds.toFixed(0)} s, ${(users / seconds).toFixed(0)} users/s`,
      '',
      '| sign-ins | number | p50 ms | p99 ms | maximum ms |',
      '|---|---|---|---|---|',
      row('before the import', calm),
      row('during the import', during),
      '',
      `Ratio of the p99: ${(percentile(during, 0.99) / percentile(calm, 0.99)).toFixed(2)}\n`,
    ].join('\n'),
  );
} finally {
  await server.kill();
  await postgresql.stop();
}

/** Signs in with a new browser, and returns the total time for opening the page and submitting the form. */
async function measureSignIn(account: { email: string; password: string }): Promise<Timed> {
  const browser = new HttpBrowser(server.url);
  const begun = performance.now();
  const page = await browser.submit(await browser.open('/sign-in'), account);
  const ms = performance.now() - begun;
  if (page.url.pathname !== '/account') throw new Error(`a sign-in ended at ${page.url.pathname} with ${page.response.status}`);
  return { ms };
}

/** Starts sign-ins at a constant rate, regardless of their duration, while `continues` returns true. */
async function sendSignIns(send: () => Promise<Timed>, continues: () => Promise<boolean>): Promise<Timed[]> {
  const pending: Promise<Timed>[] = [];
  for (let next = performance.now(); await continues(); next += 1000 / signInsPerSecond) {
    pending.push(send());
    await new Promise((resolve) => setTimeout(resolve, next + 1000 / signInsPerSecond - performance.now()));
  }
  return Promise.all(pending);
}

async function startImport(token: string): Promise<Task> {
  const rows = Array.from({ length: users }, (_, n) => `c${n},imported${n}@example.com,Customer ${n},true,${hash}\n`);
  const response = await fetch(`${server.url}/api/v1/user-imports?source=load`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/csv' },
    body: `external_id,email,name,email_verified,password_hash\n${rows.join('')}`,
  });
  if (response.status !== 202) throw new Error(await response.text());
  return task.parse(await response.json());
}

async function readTask(token: string, id: number): Promise<Task> {
  const response = await fetch(`${server.url}/api/v1/tasks/${id}`, { headers: { authorization: `Bearer ${token}` } });
  return task.parse(await response.json());
}
