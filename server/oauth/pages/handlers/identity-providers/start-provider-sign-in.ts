import type { Request, Response } from 'express';
import { z } from 'zod';
import { releaseLoadShedderSlotWhile } from '../../../../http/server/load-shedder.ts';
import type { IdentityProviderRow } from '../../../../identity-providers/identity-provider.entity.ts';
import { createPendingProviderSignIn } from '../../../identity-providers/pending-provider-sign-in.ts';
import { findEnabledProviderBySlug } from '../../../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { getOauthRequestContext } from '../../../protocol/oauth-request-context.ts';
import { getStringParameter, sendPage, type Interaction, type PageContext } from '../../routing/page-context.ts';
import { pageThatRedirectsToProvider } from '../../views/identity-providers/identity-provider-pages.ts';
import { findPendingSignInInteraction } from '../sign-in/show-and-submit-sign-in-steps.ts';
import { nextPagePathSchema } from '../sign-in/next-page-path-schema.ts';
import type { AccountRequest } from '../account/signed-in-page-guards.ts';
import { respondToProviderError, sendProviderMessagePage } from './provider-error-pages.ts';

const startForm = z.object({ csrf: z.string(), next: nextPagePathSchema });

/** Handles `POST /sign-in/providers/:slug/start` and `POST /sign-in/:uid/providers/:slug/start`: sends the browser to the provider. */
export const submitProviderSignInStart = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await findPendingSignInInteraction(context, req, res);
  const { csrf, next } = startForm.parse(req.body ?? {});
  const provider = await findEnabledProviderBySlug(context.em, String(req.params['slug']));
  if (!provider) return res.redirect(303, interaction ? `/sign-in/${interaction.uid}` : '/sign-in');
  const isFreshSignInRequired = getOauthRequestContext(req).signedInAccount !== undefined || requiresFreshSignIn(interaction);
  const target = { csrf, next, interactionUid: interaction?.uid ?? null, linkForUserId: null };
  return sendToProvider(context, res, provider, target, isFreshSignInRequired);
};

/** Handles `POST /account/linked-accounts`: sends the signed-in user to a provider, to link the user's account at this provider. */
export async function submitAccountLinkStart({ context, req, res, account }: AccountRequest): Promise<void> {
  const { csrf, slug } = z.object({ csrf: z.string(), slug: z.string().catch('') }).parse(req.body ?? {});
  const provider = await findEnabledProviderBySlug(context.em, slug);
  if (!provider) return res.redirect(303, '/account/security');
  const target = { csrf, next: '/account/security', interactionUid: null, linkForUserId: account.id };
  return sendToProvider(context, res, provider, target, false);
}

type Target = Pick<Parameters<typeof createPendingProviderSignIn>[0], 'csrf' | 'next' | 'interactionUid' | 'linkForUserId'>;

async function sendToProvider(
  context: PageContext,
  res: Response,
  provider: IdentityProviderRow,
  target: Target,
  isFreshSignInRequired: boolean,
): Promise<void> {
  const pending = createPendingProviderSignIn({ ...target, slug: provider.slug }, new Date());
  const { settings } = context;
  const options = { isFreshSignInRequired, languages: settings.messages.language.tag };
  try {
    const url = await releaseLoadShedderSlotWhile(res, context.relyingParty.createAuthorizationUrl(provider, pending, options));
    return sendPage(context, res, pageThatRedirectsToProvider(settings, provider.name, url));
  } catch (error) {
    return respondToProviderError(context, res, provider, pending, error);
  }
}

/** Returns whether the application requires a new or recent authentication. */
const requiresFreshSignIn = (interaction: Interaction | undefined): boolean =>
  interaction !== undefined &&
  (interaction.params['max_age'] !== undefined || (getStringParameter(interaction.params, 'prompt') ?? '').split(' ').includes('login'));

/** Shows an error page after a submission without a valid CSRF token. */
export const showProviderErrorOnCsrfError = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await findPendingSignInInteraction(context, req, res);
  const provider = await findEnabledProviderBySlug(context.em, String(req.params['slug']));
  const name = provider?.name ?? '';
  return sendProviderMessagePage(context, res, {
    name,
    text: context.settings.messages.stale,
    interactionUid: interaction?.uid ?? null,
    status: 400,
  });
};
