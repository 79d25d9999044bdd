import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { seal, unseal } from '../../crypto/authenticated-encryption.ts';

const purpose = 'known browser';
// Browsers keep no cookie longer (RFC 6265bis section 5.5).
const lifetimeMs = 400 * 24 * 60 * 60 * 1000;
/** Accounts that one browser remembers, so that the cookie stays small. */
const accountsMax = 5;

const cookieContent = z.object({ id: z.string(), signIns: z.array(z.object({ userId: z.number(), at: z.number() })) });
type CookieContent = z.infer<typeof cookieContent>;

/**
 * Recognizes a browser that has signed in to an account before, by an encrypted cookie. Failed attempts by others, even from the
 * same network, do not affect such a browser (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"). The cookie replaces
 * no credential.
 */
export class KnownBrowsers {
  readonly #key: Buffer;
  readonly #cookieName: string;

  constructor(key: Buffer, cookieName: string) {
    this.#key = key;
    this.#cookieName = cookieName;
  }

  /**
   * Returns the ID of the browser if it has signed in to the account.
   * @param since the time at which the password was set: an intruder's browser must not stay known after a password reset
   */
  find(req: Request, userId: number, since: Date): string | undefined {
    const content = this.#read(req);
    const known = content?.signIns.some((signIn) => signIn.userId === userId && signIn.at >= since.getTime());
    return known === true ? content?.id : undefined;
  }

  remember(req: Request, res: Response, userId: number, now: Date): void {
    const { id, signIns } = this.#read(req) ?? { id: randomBytes(16).toString('base64url'), signIns: [] };
    const others = signIns.filter((signIn) => signIn.userId !== userId);
    const content: CookieContent = { id, signIns: [{ userId, at: now.getTime() }, ...others].slice(0, accountsMax) };
    const value = seal(JSON.stringify(content), this.#key, purpose);
    res.cookie(this.#cookieName, value, { maxAge: lifetimeMs });
  }

  #read({ headers }: Request): CookieContent | undefined {
    const pairs = (headers.cookie ?? '').split(/; */).map((pair) => pair.split('=', 2));
    const value = pairs.find(([name]) => name === this.#cookieName)?.[1] ?? '';
    const text = unseal(value, this.#key, purpose);
    return text === undefined ? undefined : cookieContent.parse(JSON.parse(text));
  }
}
