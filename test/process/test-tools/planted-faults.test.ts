import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';

const root = join(import.meta.dirname, '../../..');

type Fault = {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** Test file that must detect the fault. `titles` is a pattern that selects tests in this file by title. */
  readonly tests: string;
  readonly titles: string;
};

/** Faults in the authorization server, in outgoing requests and in the code for quotes. */
const faults: Record<string, Fault> = {
  'the audience of a token is not checked (77)': {
    file: 'server/oauth/tokens/verify-access-token.ts',
    from: 'issuer,\n    audience,',
    to: 'issuer,',
    tests: 'test/oauth/tokens/access-token.test.ts',
    titles: 'audience',
  },
  'concurrent requests with the same DPoP proof share the result of the check (82)': {
    file: 'server/oauth/tokens/consume-dpop-proof-id.sql.ts',
    from: 'loader.load([id, expiresAt, count])',
    to: 'loader.load([id, expiresAt])',
    tests: 'test/oauth/tokens/proof-of-possession.test.ts',
    titles: 'in the same network packet',
  },
  'a DPoP key is accepted for every token after its first use (82)': {
    file: 'server/oauth/tokens/dpop-proof.ts',
    from: 'if (cached) return cached.thumbprint === thumbprint ? cached.key : undefined;',
    to: 'if (cached) return cached.key;',
    tests: 'test/oauth/tokens/proof-of-possession.test.ts',
    titles: 'accepted a moment ago with another token',
  },
  'the Host header is not checked (91)': {
    file: 'server/oauth/provider/require-issuer-host.ts',
    from: 'if (req.headers.host?.toLowerCase() !== host) return reject(req, res, next);',
    to: '',
    tests: 'test/oauth/protocol/metadata.test.ts',
    titles: 'in a wrong Host header is rejected',
  },
  'X-Forwarded-Host is trusted (91)': {
    file: 'server/oauth/provider/require-issuer-host.ts',
    from: `delete req.headers['x-forwarded-host'];`,
    to: '',
    tests: 'test/oauth/protocol/metadata.test.ts',
    titles: 'in forwarded headers of a proxy is ignored',
  },
  'password guesses are not limited (94)': {
    file: 'server/oauth/brute-force/attempt-limiter.ts',
    from: 'if (waits.length > 0) throw',
    to: 'if (waits.length > Infinity) throw',
    tests: 'test/oauth/brute-force/attempt-limits.test.ts',
    titles: 'the eleventh from the same network is rejected',
  },
  'token records are not locked (35, 56)': {
    file: 'server/oauth/provider/postgres-adapter.ts',
    from: 'if (!this.#em.isInTransaction()) return',
    to: 'return',
    tests: 'test/oauth/tokens/races.test.ts',
    titles: 'one succeeds, the others are rejected',
  },
  'a token without a row is valid (66, 67)': {
    file: 'server/oauth/tokens/find-active-token-user-and-limits.sql.ts',
    from: 'from oauth_records t\n',
    to: `from (select 'AccessToken' as model, $1::text as id, null::text as grant_id, 'mandate-cli' as client_id, null::text as account_id, $2::timestamptz + interval '1 day' as expires_at) t\n`,
    tests: 'test/oauth/tokens/revocation.test.ts',
    titles: '(66|67)',
  },
  'a speculative read with other permissions is returned': {
    file: 'server/database/queries/speculative-read.ts',
    from: ' && read.parameters.every((value, index) => value === parameters[index])',
    to: '',
    tests: 'test/api/orders/speculative-read.test.ts',
    titles: 'no longer staff',
  },
  'a speculative read is returned for a token that is not valid': {
    file: 'server/database/queries/batched-statement.ts',
    from: 'from (${first.selectJsonSql}) first (found)',
    to: `from (select coalesce((\${first.selectJsonSql}), '{"ceiling":["orders.read"],"ends_at":1e11}'::json)) first (found)`,
    tests: 'test/api/orders/speculative-read.test.ts',
    titles: 'revoked',
  },
  'a rejected refresh consumes its token (60)': {
    file: 'server/oauth/grants/request-transaction.ts',
    from: 'if (ctx.status >= 400 && revokedGrantId === undefined) throw new RollbackSignal();',
    to: 'if (ctx.status >= 400 && revokedGrantId === undefined) return;',
    tests: 'test/oauth/tokens/refresh.test.ts',
    titles: 'foreign resource',
  },
  'a delivery is sent without an authorization check': {
    file: 'server/webhooks/delivery/lock-authorization-during-send.ts',
    from: 'if (!(await isAllowed(inner, delivery))) throw new EndpointNoLongerAuthorizedError();',
    to: '',
    tests: 'test/api/webhooks/event-authorization.test.ts',
    titles: 'receives no (pending or new )?events after the response',
  },
  'a delivery is sent to a forbidden address': {
    file: 'server/outgoing-http/ssrf-protected-connection.ts',
    from: 'if (resolved.length === 0 || resolved.some(({ address }) => !isAllowed(address)))',
    to: 'if (resolved.length === 0)',
    tests: 'test/api/webhooks/ssrf-protection.test.ts',
    titles: 'that resolves',
  },
  'an e-mail change bypasses confirmation': {
    file: 'server/users/update-user.ts',
    from: 'await changeEmailAddress(em, onEmailAddressChange, user, change, now);',
    to: 'void [changeEmailAddress, onEmailAddressChange, change, now]; user.replaceEmailAddress(email, true); await em.flush();',
    tests: 'test/api/users/email-address.test.ts',
    titles: 'an e-mail address changed by staff',
  },
  'a scope allows role changes': {
    file: 'server/users/authorize-user-change.ts',
    from: `changes.includes('role') || user.role`,
    to: `(changes.includes('role') && !may(principal, 'users.manage')) || user.role`,
    tests: 'test/api/users/roles.test.ts',
    titles: 'cannot promote a customer that it created|is forbidden with users.manage',
  },
  'a repeated refresh issues a second successor (56)': {
    file: 'server/oauth/refresh/refresh-token-grant.ts',
    from: 'if (isReplayedRefresh(ctx.req)) throw new RepeatedRefresh();',
    to: '',
    tests: 'test/oauth/tokens/races.test.ts',
    titles: 'get the same successor',
  },
  'a refresh response is replayed after its successor has been used': {
    file: 'server/oauth/refresh/refresh-token-grant.ts',
    from: '} else if (isRecent(current)) await',
    to: '} else if (!isRecent(current)) await',
    tests: 'test/oauth/tokens/refresh-grace.test.ts',
    titles: 'once the successor has been used',
  },
  'a lockout rejects the account owner': {
    file: 'server/oauth/brute-force/attempt-limiter.ts',
    from: `digest(target, 'network', network)`,
    to: 'digest(target)',
    tests: 'test/oauth/brute-force/lockout.test.ts',
    titles: 'lock out that network but not the owner',
  },
  'a quote reserves stock without a lock': {
    file: 'server/quotes/reserve-and-release-stock.ts',
    from: 'lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true',
    to: 'refresh: [LockMode.PESSIMISTIC_WRITE].length > 0',
    tests: 'test/api/quotes/race.test.ts',
    titles: 'exactly 10 units are reserved or sold',
  },
  'a form is missing from the list': {
    file: 'server/oauth/pages/page-routes.ts',
    from: '  addAccountPages(pages);\n',
    to: `  addAccountPages(pages);\n  pages.router.post('/account/name', (_req, res) => res.redirect(303, '/account'));\n`,
    tests: 'test/oauth/pages/forms.test.ts',
    titles: 'every route that accepts POST',
  },
};

let copy: string;

async function runTests({ tests, titles }: Pick<Fault, 'tests' | 'titles'>): Promise<{ code: unknown; output: string }> {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'postgresql', tests, '-t', titles];
  const runner = spawn(process.execPath, vitest, {
    cwd: copy,
    env: { PATH: process.env['PATH'], NO_COLOR: '1', DATABASE_URL: await createMigratedPostgresqlUrl() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([text(runner.stdout), text(runner.stderr), once(runner, 'exit')]);
  return { code, output: output + errors };
}

describe.skipIf(databaseKind === 'pglite')('tests fail in a copy of the server with a planted fault', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'mandate-planted-'));
    const configuration = ['package.json', 'package-lock.json', 'tsconfig.json', 'vitest.config.ts'];
    const buildScripts = ['build-ignored-files.js', 'start-provided-node.js'];
    for (const part of ['contract', 'server', 'client-sdk', 'cli', 'clients', 'console', 'test', ...configuration, ...buildScripts])
      await cp(join(root, part), join(copy, part), { recursive: true, verbatimSymlinks: true });
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rm(copy, { recursive: true, force: true }));

  test.each(Object.entries(faults))('%s', async (_name, fault) => {
    const path = join(copy, fault.file);
    const original = await readFile(path, 'utf8');
    expect(original.split(fault.from), 'number of parts around the replaced text').toHaveLength(2);
    await writeFile(
      path,
      original.replace(fault.from, () => fault.to),
    );
    const { code, output } = await runTests(fault);
    await writeFile(path, original);
    expect(code, output).toBe(1);
    expect(output).toMatch(/Tests +\d+ failed/);
    expect(output).toContain('AssertionError'); // the failure is not an import or startup error
  });

  test('the same tests pass without a fault', async () => {
    const { code, output } = await runTests({ tests: 'test/oauth/tokens/access-token.test.ts', titles: 'audience' });
    expect(code, output).toBe(0);
    expect(output).toMatch(/Tests +\d+ passed/);
  });
});
