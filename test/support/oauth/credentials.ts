import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { z } from 'zod';
import type { HttpBrowser, HtmlPage } from '../browser/browser.ts';
import type { RunningServer } from '../server/use-server.ts';

type Server = Pick<RunningServer, 'origin' | 'db'>;

/**
 * Inserts a passkey directly into the database, because adding one on the pages requires a browser that supports WebAuthn. Returns the
 * passkey ID.
 */
export async function insertPasskey({ db }: Server, userId: number, name: string): Promise<number> {
  const [row] = await db.em
    .fork()
    .execute<{ id: number }[]>(
      `insert into passkeys (user_id, credential_id, public_key, counter, name, added_at, last_used_at) values (?, ?, 'x', 0, ?, now(), now()) returning id`,
      [userId, randomBytes(16).toString('base64url'), name],
    );
  return Number(row?.id);
}

/** Returns the user's passkey IDs, in ascending order. */
export async function readPasskeyIds({ db }: Server, userId: number): Promise<number[]> {
  const rows = await db.em.fork().execute<{ id: number }[]>('select id from passkeys where user_id = ? order by id', [userId]);
  return rows.map(({ id }) => id);
}

const createdKey = z.object({ id: z.number(), key: z.string(), prefix: z.string() });
export type CreatedApiKey = z.infer<typeof createdKey>;

/** Creates an API key with the scope `users.read`. The token must have the scopes `api_keys.manage` and `users.read`. */
export async function createApiKey({ origin }: Server, token: string, name: string): Promise<CreatedApiKey> {
  const response = await fetch(`${origin}/api/v1/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, scopes: ['users.read'] }),
  });
  if (response.status !== 201) throw new Error(`no API key was created: ${response.status} ${await response.text()}`);
  return createdKey.parse(await response.json());
}

/** Sets up an authenticator app with the previous time step's code, so that the current code stays unused. */
export async function addAuthenticatorApp(browser: HttpBrowser): Promise<{ secret: string; recoveryCodes: string[] }> {
  const page = await browser.open('/account/authenticator-app');
  const secret = (/<p class="key"><code>([^<]+)/.exec(page.text)?.[1] ?? '').replaceAll(' ', '');
  const done = await browser.submit(page, { code: generateTotpCode(secret, Date.now() - 30_000) });
  return { secret, recoveryCodes: [...done.text.matchAll(/<li><code>([^<]+)/g)].map(([, code]) => code ?? '') };
}

export const generateTotpCode = (secret: string, at = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret), digits: 6, period: 30 }).generate({ timestamp: at });

/** Returns whether the page that follows the password form requests a second factor. */
export const requestsSecondFactor = (page: HtmlPage): boolean => page.text.includes('<h1>Two-step verification</h1>');

/** Returns the actions and subjects of the user's audit events, in order. */
export async function readAuditTrail({ db }: Server, userId: number): Promise<string[]> {
  const rows = await db.em
    .fork()
    .execute<{ action: string; subject: string | null }[]>('select action, subject from audit_events where user_id = ? order by id', [
      userId,
    ]);
  return rows.map(({ action, subject }) => (subject === null ? action : `${action} ${subject}`));
}
