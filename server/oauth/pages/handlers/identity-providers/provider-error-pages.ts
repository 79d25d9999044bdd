import type { Response } from 'express';
import type { IdentityProviderRow } from '../../../../identity-providers/identity-provider.entity.ts';
import type { PendingProviderSignIn } from '../../../identity-providers/pending-provider-sign-in.ts';
import {
  InvalidProviderResponseError,
  ProviderSignInDeclinedError,
  IdentityProviderUnavailableError,
} from '../../../identity-providers/provider-errors.ts';
import { sendPage, type PageContext } from '../../routing/page-context.ts';
import { providerMessagePage } from '../../views/identity-providers/identity-provider-pages.ts';

type Message = {
  /** Name of the provider. */
  readonly name: string;
  readonly title?: string;
  readonly text: string;
  readonly interactionUid: string | null;
  readonly status: number;
};

export const signInPathFromInteractionUid = (interactionUid: string | null): string =>
  interactionUid === null ? '/sign-in' : `/sign-in/${interactionUid}`;

/** Sends a page with a message about a provider and a link to the sign-in page. */
export function sendProviderMessagePage(context: PageContext, res: Response, { name, title, text, interactionUid, status }: Message): void {
  const { settings } = context;
  const heading = title ?? settings.messages.providers.failedTitle({ provider: name });
  sendPage(context, res, providerMessagePage(settings, heading, text, signInPathFromInteractionUid(interactionUid)), { status });
}

/**
 * Handles an error thrown by `RelyingParty`. If the sign-in was declined, redirects the browser; otherwise, logs the error and sends an
 * error page. Rethrows other errors.
 */
export function respondToProviderError(
  context: PageContext,
  res: Response,
  { name, slug }: Pick<IdentityProviderRow, 'name' | 'slug'>,
  { interactionUid, linkForUserId, next }: Pick<PendingProviderSignIn, 'interactionUid' | 'linkForUserId' | 'next'>,
  error: unknown,
): void {
  const { providers: messages } = context.settings.messages;
  if (error instanceof ProviderSignInDeclinedError)
    return res.redirect(303, linkForUserId === null ? signInPathFromInteractionUid(interactionUid) : next);
  const isUnavailable = error instanceof IdentityProviderUnavailableError;
  if (!isUnavailable && !(error instanceof InvalidProviderResponseError)) throw error;
  context.log.error({ provider: slug, reason: error.message }, 'sign-in through an identity provider failed');
  const text = isUnavailable ? messages.unavailable({ provider: name }) : messages.invalid({ provider: name });
  return sendProviderMessagePage(context, res, { name, text, interactionUid, status: isUnavailable ? 503 : 400 });
}
