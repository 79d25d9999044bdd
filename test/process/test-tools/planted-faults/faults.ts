/**
 * A fault in the server. The text `from` in `file` is replaced by `to`, in which `PLANTED` stands for the condition that the current test
 * runs with the fault. Without the fault, the changed code must behave as before.
 */
export type Fault = {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** Test file that must detect the fault. `titles` is a pattern that selects tests in this file by title. */
  readonly tests: string;
  readonly titles: string;
  /** Whether the fault is already planted when the test file starts its server, and remains planted. */
  readonly fromStart?: boolean;
};

/** Faults in the authorization server, in outgoing requests and in the code for quotes. */
export const faults: Readonly<Record<string, Fault>> = {
  'the audience of a token is not checked (77)': {
    file: 'server/oauth/tokens/verify-access-token.ts',
    from: 'issuer,\n    audience,',
    to: 'issuer,\n    ...(!PLANTED && { audience }),',
    tests: 'test/oauth/tokens/access-token.test.ts',
    titles: 'audience',
  },
  'concurrent requests with the same DPoP proof share the result of the check (82)': {
    file: 'server/oauth/tokens/consume-dpop-proof-id.sql.ts',
    from: 'loader.load([id, expiresAt, count])',
    to: 'loader.load(PLANTED ? [id, expiresAt] : [id, expiresAt, count])',
    tests: 'test/oauth/tokens/proof-of-possession.test.ts',
    titles: 'in the same network packet',
  },
  'a DPoP key is accepted for every token after its first use (82)': {
    file: 'server/oauth/tokens/verify-dpop-proof.ts',
    from: 'if (cached) return cached.thumbprint === thumbprint ? cached.key : undefined;',
    to: 'if (cached) return PLANTED || cached.thumbprint === thumbprint ? cached.key : undefined;',
    tests: 'test/oauth/tokens/proof-of-possession.test.ts',
    titles: 'accepted a moment ago with another token',
  },
  'the Host header is not checked (91)': {
    file: 'server/oauth/provider/require-issuer-host.ts',
    from: 'if (req.headers.host?.toLowerCase() !== host)',
    to: 'if (!PLANTED && req.headers.host?.toLowerCase() !== host)',
    tests: 'test/oauth/protocol/metadata.test.ts',
    titles: 'in a wrong Host header is rejected',
  },
  'X-Forwarded-Host is trusted (91)': {
    file: 'server/oauth/provider/require-issuer-host.ts',
    from: `delete req.headers['x-forwarded-host'];`,
    to: `if (!PLANTED) delete req.headers['x-forwarded-host'];`,
    tests: 'test/oauth/protocol/metadata.test.ts',
    titles: 'in forwarded headers of a proxy is ignored',
  },
  'password guesses are not limited (94)': {
    file: 'server/oauth/brute-force/attempt-limiter.ts',
    from: 'if (waits.length > 0) throw',
    to: 'if (!PLANTED && waits.length > 0) throw',
    tests: 'test/oauth/brute-force/attempt-limits.test.ts',
    titles: 'for a known account: the eleventh from the same network is rejected',
  },
  'token records are not locked (35, 56)': {
    file: 'server/oauth/provider/postgres-adapter.ts',
    from: 'if (!this.#em.isInTransaction()) return',
    to: 'if (PLANTED || !this.#em.isInTransaction()) return',
    tests: 'test/oauth/tokens/races.test.ts',
    titles: 'one succeeds, the others are rejected',
  },
  'a token without a row is valid (66, 67)': {
    file: 'server/oauth/tokens/verify-access-token.ts',
    from: 'const { status, read } = await findStatus(',
    to: 'const { status = PLANTED ? { user_id: null, role: null, ceiling: [], grant_id: null, ends_at: 1e11 } : undefined, read } = await findStatus(',
    tests: 'test/oauth/tokens/revocation.test.ts',
    titles: '(66|67)',
  },
  'a speculative read with other permissions is returned': {
    file: 'server/database/queries/speculative-read.ts',
    from: ' && read.parameters.every((value, index) => value === parameters[index])',
    to: ' && (PLANTED || read.parameters.every((value, index) => value === parameters[index]))',
    tests: 'test/api/orders/speculative-read.test.ts',
    titles: 'no longer staff',
  },
  'a speculative read is returned for a token that is not valid': {
    file: 'server/database/queries/batched-statement.ts',
    from: '  return prepareBatched(\n    `${first.name}_and_${second.name}`,',
    to: `  const prepareBoth = (name, firstSql) =>
    prepareBatched(
      name,
      [...first.types, ...second.types],
      \`select json_build_array(first.found, (\${secondSql})) from (\${firstSql}) first (found)\`,
      sharedBatch,
    );
  const correct = prepareBoth('correct', first.selectJsonSql);
  const wrong = prepareBoth('wrong', \`select coalesce((\${first.selectJsonSql}), '{"ceiling":["orders.read"],"ends_at":1e11}'::json)\`);
  return (em, parameters) => (PLANTED ? wrong : correct)(em, parameters);
  return prepareBatched(
    \`\${first.name}_and_\${second.name}\`,`,
    tests: 'test/api/orders/speculative-read.test.ts',
    titles: 'revoked',
  },
  'a rejected refresh consumes its token (60)': {
    file: 'server/oauth/grants/run-request-in-transaction.ts',
    from: 'if (ctx.status >= 400 && revokedGrantId === undefined) throw new RollbackSignal();',
    to: 'if (!PLANTED && ctx.status >= 400 && revokedGrantId === undefined) throw new RollbackSignal();',
    tests: 'test/oauth/tokens/refresh.test.ts',
    titles: 'foreign resource',
  },
  'a delivery is sent without an authorization check': {
    file: 'server/webhooks/delivery/create-authorization-checked-send-gate.ts',
    from: 'if (!(await isAllowed(inner, delivery)))',
    to: 'if (!PLANTED && !(await isAllowed(inner, delivery)))',
    tests: 'test/api/webhooks/event-authorization.test.ts',
    titles: 'by the application: receives no pending or new events after the response',
  },
  'a delivery is sent to a forbidden address': {
    file: 'server/outgoing-http/ssrf-protected-connection.ts',
    from: 'if (resolved.length === 0 || resolved.some(({ address }) => !isAllowed(address)))',
    to: 'if (resolved.length === 0 || (!PLANTED && resolved.some(({ address }) => !isAllowed(address))))',
    tests: 'test/api/webhooks/ssrf-protection.test.ts',
    titles: 'that resolves',
  },
  'an e-mail change bypasses confirmation': {
    file: 'server/users/authorize-and-update-user.ts',
    from: 'await changeEmailAddressNotifyAndAudit(em, onEmailAddressChange, user, change, now);',
    to: `if (PLANTED) {
      user.replaceEmailAddress(email, true);
      await em.flush();
    } else await changeEmailAddressNotifyAndAudit(em, onEmailAddressChange, user, change, now);`,
    tests: 'test/api/users/email-address.test.ts',
    titles: 'an e-mail address changed by staff',
  },
  'a scope allows role changes': {
    file: 'server/users/authorize-user-change.ts',
    from: `changes.includes('role') || user.role`,
    to: `(changes.includes('role') && !(PLANTED && canUseScope(principal, 'users.manage'))) || user.role`,
    tests: 'test/api/users/roles.test.ts',
    titles: 'cannot promote a customer that it created|is forbidden with users.manage',
  },
  'a repeated refresh issues a second successor (56)': {
    file: 'server/oauth/refresh/refresh-token-grant.ts',
    from: 'if (isReplayedRefresh(ctx.req)) throw new RepeatedRefresh();',
    to: 'if (!PLANTED && isReplayedRefresh(ctx.req)) throw new RepeatedRefresh();',
    tests: 'test/oauth/tokens/races.test.ts',
    titles: 'get the same successor',
  },
  'a refresh response is replayed after its successor has been used': {
    file: 'server/oauth/refresh/refresh-token-grant.ts',
    from: '} else if (isRecent(current)) await',
    to: '} else if (isRecent(current) !== PLANTED) await',
    tests: 'test/oauth/tokens/refresh-grace.test.ts',
    titles: 'once the successor has been used',
  },
  'a lockout rejects the account owner': {
    file: 'server/oauth/brute-force/attempt-limiter.ts',
    from: `digest(target, 'network', network)`,
    to: `PLANTED ? digest(target) : digest(target, 'network', network)`,
    tests: 'test/oauth/brute-force/lockout.test.ts',
    titles: 'lock out that network but not the owner',
  },
  'a quote reserves stock without a lock': {
    file: 'server/quotes/reserve-and-release-stock.ts',
    from: 'lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true',
    to: '...(!PLANTED && { lockMode: LockMode.PESSIMISTIC_WRITE }), refresh: true',
    tests: 'test/api/quotes/race.test.ts',
    titles: 'exactly 10 units are reserved or sold',
  },
  'a form is missing from the list': {
    file: 'server/oauth/pages/page-routes.ts',
    from: '  addAccountPages(pages);\n',
    to: `  addAccountPages(pages);\n  if (PLANTED) pages.router.post('/account/name', (_req, res) => res.redirect(303, '/account'));\n`,
    tests: 'test/oauth/pages/forms.test.ts',
    titles: 'every route that accepts POST',
    fromStart: true,
  },
};

/** Returns the faults that a test must detect. `title` is the full title of the test, with the titles of its `describe` blocks. */
export const namesOfFaultsDetectedBy = (testFile: string, title: string): string[] =>
  Object.entries(faults).flatMap(([name, { tests, titles }]) => (testFile.endsWith(tests) && new RegExp(titles).test(title) ? [name] : []));

/** Returns the server's source file with all its faults. */
export function plantFaults(path: string, source: string): string {
  return Object.entries(faults)
    .filter(([, { file }]) => path.endsWith(file))
    .reduce((text, [name, { from, to }]) => {
      if (text.split(from).length !== 2) throw new Error(`${path} must contain this text once, to plant "${name}": ${from}`);
      return text.replace(from, () => to.replaceAll('PLANTED', () => `(globalThis.plantedFault === ${JSON.stringify(name)})`));
    }, source);
}
