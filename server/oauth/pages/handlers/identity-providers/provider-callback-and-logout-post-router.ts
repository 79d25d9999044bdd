import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import { getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import { releaseLoadShedderSlotWhile } from '../../../../http/server/load-shedder.ts';
import { InvalidProviderResponseError, IdentityProviderUnavailableError } from '../../../identity-providers/provider-errors.ts';
import { endAccessAfterProviderLogout } from '../../../ended-provider-accounts/end-access-after-provider-logout-or-rejection.ts';
import { findEnabledProviderBySlug } from '../../../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { consumeSingleUseIdentifier } from '../../../second-factors/passkeys.ts';
import { formPostToGetRedirectMiddlewares } from '../../../provider/redirect-form-to-get.ts';
import type { PageContext } from '../../routing/page-context.ts';

const formBytesMax = 16 * 1024;

const logoutForm = z.object({ logout_token: z.string().min(1) });

/**
 * Creates the router for requests that providers send with POST: logout tokens, and authorization responses with the response mode
 * `form_post`. Authorization responses are redirected, so that the browser sends its cookies.
 */
export const createIdentityProviderPostRouter = (context: PageContext, requireHost: RequestHandler): express.Router =>
  express
    .Router({ caseSensitive: true, strict: true })
    .post('/sign-in/providers/:slug/callback', requireHost, formPostToGetRedirectMiddlewares)
    .post('/sign-in/providers/:slug/logout', requireHost, receiveProviderLogout(context));

/** Handles `POST /sign-in/providers/:slug/logout`, which receives logout tokens (OpenID Connect Back-Channel Logout section 2.5). */
const receiveProviderLogout = (context: PageContext): RequestHandler[] => [
  express.urlencoded({ extended: false, limit: formBytesMax }),
  async (req, res) => {
    res.set('Cache-Control', 'no-store');
    const reject = (description: string) => res.status(400).json({ error: 'invalid_request', error_description: description });
    const provider = await findEnabledProviderBySlug(context.em, String(req.params['slug']));
    const form = logoutForm.safeParse(req.body ?? {});
    if (!provider || !form.success) return reject('logout_token must contain the logout token of a configured provider');
    try {
      const { id, issuer, subject } = await releaseLoadShedderSlotWhile(
        res,
        context.relyingParty.verifyLogoutToken(provider, form.data.logout_token),
      );
      const now = new Date();
      if (!(await consumeSingleUseIdentifier(context.em, `logout ${provider.slug} ${id}`, now)))
        return reject('the token was already used');
      await endAccessAfterProviderLogout(context.em, provider, { issuer, subject }, getClientAddressAndUserAgent(req), now);
      return res.status(200).end();
    } catch (error) {
      if (error instanceof InvalidProviderResponseError) return reject(error.message);
      if (!(error instanceof IdentityProviderUnavailableError)) throw error;
      return res.status(503).set('Retry-After', '5').json({ error: 'temporarily_unavailable', error_description: error.message });
    }
  },
];
