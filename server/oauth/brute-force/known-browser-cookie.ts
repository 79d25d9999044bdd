import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { encryptText, decryptText } from '../../crypto/authenticated-encryption.ts';

const purpose = 'known browser';
// The maximum cookie lifetime that browsers accept (RFC 6265bis section 5.5).
const lifetimeMs = 400 * 24 * 60 * 60 * 1000;
/** Maximum number of accounts per browser, to keep the cookie small. */
const accountsMax = 5;

const cookieContent = z.object({ id: z.string(), signIns: z.array(z.object({ userId: z.number(), at: z.number() })) });
type CookieContent = z.infer<typeof cookieContent>;

/**
 * Uses an encrypted cookie to recognize a browser that has previously signed in to an account. Failed attempts from other browsers, even on
 * the same network, do not affect a recognized browser (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"). The cookie does
 * not replace any credential.
 */
export class KnownBrowserCookie {
  readonly #key: Buffer;
  readonly #cookieName: string;

  constructor(key: Buffer, cookieName: string) {
    this.#key = key;
    this.#cookieName = cookieName;
  }

  /**
   * Returns the browser's ID if the browser has signed in to the account.
   * @param since time when the password was set; earlier sign-ins are ignored, so that an intruder's browser is not recognized after a
   * password reset
   */
  findBrowserId(req: Request, userId: number, since: Date): string | undefined {
    const content = this.#read(req);
    const known = content?.signIns.some((signIn) => signIn.userId === userId && signIn.at >= since.getTime());
    return known === true ? content?.id : undefined;
  }

  /** Records in the cookie that this browser has signed in to the account. */
  remember(req: Request, res: Response, userId: number, now: Date): void {
    const { id, signIns } = this.#read(req) ?? { id: randomBytes(16).toString('base64url'), signIns: [] };
    const others = signIns.filter((signIn) => signIn.userId !== userId);
    const content: CookieContent = { id, signIns: [{ userId, at: now.getTime() }, ...others].slice(0, accountsMax) };
    const value = encryptText(JSON.stringify(content), this.#key, purpose);
    res.cookie(this.#cookieName, value, { maxAge: lifetimeMs });
  }

  #read({ headers }: Request): CookieContent | undefined {
    const pairs = (headers.cookie ?? '').split(/; */).map((pair) => pair.split('=', 2));
    const value = pairs.find(([name]) => name === this.#cookieName)?.[1] ?? '';
    const text = decryptText(value, this.#key, purpose);
    return text === undefined ? undefined : cookieContent.parse(JSON.parse(text));
  }
}
