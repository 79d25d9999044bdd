import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';

const cookieName = 'mandate_form';

/**
 * A form is ours when it carries the HMAC of a cookie that only this browser has: another site can send the form,
 * and even plant a cookie, but not compute the one from the other.
 */
export class FormGuard {
  readonly #key: Uint8Array;
  readonly #secure: boolean;

  constructor(key: Uint8Array, issuer: string) {
    this.#key = key;
    this.#secure = issuer.startsWith('https:');
  }

  /** What to put into the form that this answer shows. */
  token(req: Request, res: Response): string {
    let id = readCookie(req);
    if (id === undefined) {
      id = randomBytes(24).toString('base64url');
      res.cookie(cookieName, id, { httpOnly: true, sameSite: 'lax', secure: this.#secure, path: '/' });
    }
    return this.#sign(id);
  }

  accepts(req: Request, token: string): boolean {
    const id = readCookie(req);
    if (id === undefined) return false;
    const [expected, presented] = [Buffer.from(this.#sign(id)), Buffer.from(token)];
    return expected.length === presented.length && timingSafeEqual(expected, presented);
  }

  #sign(id: string): string {
    return createHmac('sha256', this.#key).update(`form ${id}`).digest('base64url');
  }
}

const cookiePattern = new RegExp(`(?:^|;\\s*)${cookieName}=([A-Za-z0-9_-]{32})(?:;|$)`);

const readCookie = (req: Request): string | undefined => cookiePattern.exec(req.headers.cookie ?? '')?.[1];
