import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import { getOauthRequestContext } from '../../protocol/oauth-request-context.ts';
import { getBrowserSessionOfRequest } from '../../sessions/load-start-and-end-browser-session.ts';

/**
 * Issues and verifies CSRF tokens. A token is an HMAC over the session and its account, so that the token is invalid in every other session
 * and after a sign-in. Before the sign-in, a token is bound to a random value in a cookie that the server signs. Cookies without a valid
 * signature are ignored.
 */
export class CsrfTokenService {
  readonly #key: Uint8Array;
  readonly #cookieName: string;
  readonly #cookie: RegExp;

  constructor(key: Uint8Array, cookieName: string) {
    this.#key = key;
    this.#cookieName = cookieName;
    this.#cookie = new RegExp(`(?:^|;\\s*)${cookieName}=([\\w-]{32})\\.([\\w-]{43})(?:;|$)`);
  }

  /** Returns the token for the forms in this response. Sets the cookie if the token is bound to a cookie. */
  issue(req: Request, res: Response): string {
    return this.#sign(this.#binding(req) ?? ['browser', this.#setBrowserId(req, res)]);
  }

  /** Returns whether the token is valid for this request's session. */
  verify(req: Request, token: string): boolean {
    const binding = this.#binding(req);
    return binding !== undefined && isEqual(this.#sign(binding), token);
  }

  #binding(req: Request): string[] | undefined {
    const { uid, accountId } = getBrowserSessionOfRequest(req);
    if (accountId !== undefined) return ['session', uid, accountId];
    const browserId = this.#browserId(req);
    return browserId === undefined ? undefined : ['browser', browserId];
  }

  #browserId(req: Request): string | undefined {
    const [, id = '', signature = ''] = this.#cookie.exec(req.headers.cookie ?? '') ?? [];
    return id !== '' && isEqual(this.#sign(['cookie', id]), signature) ? id : undefined;
  }

  #setBrowserId(req: Request, res: Response): string {
    const context = getOauthRequestContext(req);
    context.newBrowserId ??= randomBytes(24).toString('base64url');
    const { newBrowserId: id } = context;
    res.cookie(this.#cookieName, `${id}.${this.#sign(['cookie', id])}`);
    return id;
  }

  #sign(content: readonly string[]): string {
    return createHmac('sha256', this.#key).update(JSON.stringify(content)).digest('base64url');
  }
}

function isEqual(expected: string, presented: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(presented)];
  return one.length === other.length && timingSafeEqual(one, other);
}
