import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKind, freshPostgresqlUrl } from '../../support/services/database.ts';

const root = join(import.meta.dirname, '../../..');

type Fault = {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The file whose tests are to notice, and which of them. */
  readonly tests: string;
  readonly titles: string;
};

/** What somebody might leave out of the authorization server, and of what is sent to others. */
const faults: Record<string, Fault> = {
  'no look at the audience of a token (77)': {
    file: 'server/oauth/tokens/verify-access-token.ts',
    from: 'issuer,\n    audience,',
    to: 'issuer,',
    tests: 'test/oauth/tokens/access-token.test.ts',
    titles: 'audience',
  },
  'no look at the Host header (91)': {
    file: 'server/oauth/provider/require-issuer-host.ts',
    from: 'if (req.headers.host?.toLowerCase() !== host) return reject(req, res, next);',
    to: '',
    tests: 'test/oauth/protocol/metadata.test.ts',
    titles: 'of another host is refused',
  },
  'belief in what a proxy says the host is (91)': {
    file: 'server/oauth/provider/require-issuer-host.ts',
    from: `delete req.headers['x-forwarded-host'];`,
    to: '',
    tests: 'test/oauth/protocol/metadata.test.ts',
    titles: 'is not what a proxy says',
  },
  'no end of guessing at a password (94)': {
    file: 'server/oauth/brute-force/attempt-limits.ts',
    from: 'if (waits.length > 0) throw',
    to: 'if (waits.length > Infinity) throw',
    tests: 'test/oauth/brute-force/attempt-limits.test.ts',
    titles: 'the eleventh is not looked at',
  },
  'a store that locks nothing (35, 56)': {
    file: 'server/oauth/provider/postgres-adapter.ts',
    from: 'if (!this.#em.isInTransaction()) return',
    to: 'return',
    tests: 'test/oauth/tokens/races.test.ts',
    titles: 'one wins',
  },
  'a token that is good without the row it left (66, 67)': {
    file: 'server/oauth/tokens/verify-access-token.ts',
    from: 'from oauth_records t\n',
    to: `from (select 'AccessToken' as model, $1::text as id, null::text as grant_id, 'mandate-cli' as client_id, null::text as account_id, $2::timestamptz + interval '1 day' as expires_at) t\n`,
    tests: 'test/oauth/tokens/revocation.test.ts',
    titles: '(66|67)',
  },
  'a refusal that burns the token it refused (60)': {
    file: 'server/oauth/provider/request-transaction.ts',
    from: 'if (ctx.status >= 400 && !revoked) throw new RollbackSignal();',
    to: 'if (ctx.status >= 400 && !revoked) return;',
    tests: 'test/oauth/tokens/refresh.test.ts',
    titles: 'foreign resource',
  },
  'a delivery that asks nobody whether it may leave': {
    file: 'server/webhooks/delivery/lock-authorization-during-send.ts',
    from: 'if (!(await isAllowed(inner, delivery))) throw new DeliveryNotAllowedError();',
    to: '',
    tests: 'test/api/webhooks/reach.test.ts',
    titles: 'gets nothing after the answer',
  },
  'a delivery to whatever address a name leads to': {
    file: 'server/outgoing-http/protected-client.ts',
    from: 'if (resolved.length === 0 || resolved.some(({ address }) => !isAllowed(address)))',
    to: 'if (resolved.length === 0)',
    tests: 'test/api/webhooks/hostile-addresses.test.ts',
    titles: 'that leads',
  },
  'an e-mail change that bypasses the rule': {
    file: 'server/users/update-user.ts',
    from: 'await changeEmailAddress(em, onEmailAddressChange, user, change, now);',
    to: 'void [changeEmailAddress, onEmailAddressChange, change, now]; user.replaceEmailAddress(email, true); await em.flush();',
    tests: 'test/api/users/email-address.test.ts',
    titles: 'an address that staff changed',
  },
  'a scope that can change a role': {
    file: 'server/users/authorize-user-change.ts',
    from: `changes.includes('role') || user.role`,
    to: `(changes.includes('role') && !may(principal, 'users.manage')) || user.role`,
    tests: 'test/api/users/roles.test.ts',
    titles: 'cannot promote its own customer|not with users.manage',
  },
  'a repeated refresh that issues a second successor (56)': {
    file: 'server/oauth/refresh/replay-refresh-response.ts',
    from: 'if (isReplayedRefresh(ctx)) throw new RepeatedRefresh();',
    to: '',
    tests: 'test/oauth/tokens/races.test.ts',
    titles: 'all get one successor',
  },
  'a refresh response that is replayed after its successor has been used': {
    file: 'server/oauth/refresh/replay-refresh-response.ts',
    from: '} else if (isRecent(current)) await',
    to: '} else if (!isRecent(current)) await',
    tests: 'test/oauth/tokens/refresh-grace.test.ts',
    titles: 'once the successor has been used',
  },
  'a lockout that rejects the owner': {
    file: 'server/oauth/brute-force/attempt-limits.ts',
    from: `digest(target, 'network', network)`,
    to: 'digest(target)',
    tests: 'test/oauth/brute-force/lockout.test.ts',
    titles: 'lock out that network and not the owner',
  },
  'a form outside the list': {
    file: 'server/oauth/pages/page-routes.ts',
    from: '  addAccountPages(pages, context);\n',
    to: `  addAccountPages(pages, context);\n  pages.router.post('/account/name', (_req, res) => res.redirect(303, '/account'));\n`,
    tests: 'test/oauth/pages/forms.test.ts',
    titles: 'every route that accepts POST',
  },
};

let copy: string;

async function runTests({ tests, titles }: Pick<Fault, 'tests' | 'titles'>): Promise<{ code: unknown; output: string }> {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'postgresql', tests, '-t', titles];
  const runner = spawn(process.execPath, vitest, {
    cwd: copy,
    env: { PATH: process.env['PATH'], NO_COLOR: '1', DATABASE_URL: await freshPostgresqlUrl() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([text(runner.stdout), text(runner.stderr), once(runner, 'exit')]);
  return { code, output: output + errors };
}

describe.skipIf(databaseKind === 'pglite')('planted in a copy of the server, the tests turn red of', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'mandate-planted-'));
    for (const part of ['contract', 'server', 'client-sdk', 'cli', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'])
      await cp(join(root, part), join(copy, part), { recursive: true, verbatimSymlinks: true });
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rm(copy, { recursive: true, force: true }));

  test.each(Object.entries(faults))('%s', async (_name, fault) => {
    const path = join(copy, fault.file);
    const whole = await readFile(path, 'utf8');
    expect(whole.split(fault.from), 'the place of the fault').toHaveLength(2);
    await writeFile(
      path,
      whole.replace(fault.from, () => fault.to),
    );
    const { code, output } = await runTests(fault);
    await writeFile(path, whole);
    expect(code, output).toBe(1);
    expect(output).toMatch(/Tests +\d+ failed/);
    expect(output).toContain('AssertionError'); // and not because nothing runs any more
  });

  test('nothing at all: they are green, so it was the fault that they noticed', async () => {
    const { code, output } = await runTests({ tests: 'test/oauth/tokens/access-token.test.ts', titles: 'audience' });
    expect(code, output).toBe(0);
    expect(output).toMatch(/Tests +\d+ passed/);
  });
});
