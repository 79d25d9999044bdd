import type { Request, Response } from 'express';
import { getOauthRequestContext } from '../../../protocol/oauth-request-context.ts';
import { requireActiveApplication } from '../../../grants/consents-and-grants.ts';
import { listEnabledProviders } from '../../../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { createPasskeyRequestOptionsJson } from '../../../second-factors/passkeys.ts';
import {
  getInteractionClientId,
  getAuthorizationRequestRedirectUri,
  sendPage,
  type Interaction,
  type PageContext,
} from '../../routing/page-context.ts';
import { emailCodePage } from '../../views/sign-in/email-code-page.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { secondFactorPage } from '../../views/sign-in/second-factor-page.ts';
import { signInPage, type SignedInAccount } from '../../views/sign-in/sign-in-page.ts';
import { defaultPagePathAfterSignIn } from './next-page-path-schema.ts';

export type SignInState = { interaction: Interaction | undefined; next: string; faults?: readonly FieldError[] };

export async function renderAndSendSignInPage(
  context: PageContext,
  req: Request,
  res: Response,
  state: SignInState & { email?: string | undefined },
): Promise<void> {
  const { interaction, next, faults = [] } = state;
  const path = signInPath(interaction);
  const application = interaction && (await requireActiveApplication(context.em, getInteractionClientId(interaction))).name;
  const signedInAs = describeSignedInAccount(context, req, state, application);
  const isOtherAccount = faults.length === 0 && (signedInAs === undefined || 'url' in signedInAs.next);
  const html = signInPage(context.settings, {
    csrf: context.forms.issue(req, res),
    application,
    email: state.email ?? (isOtherAccount ? '' : (signedInAs?.email ?? '')),
    signedInAs,
    faults,
    next,
    path,
    providers: await listEnabledProviders(context.em),
    signUpPath: interaction ? `${path}/sign-up` : '/sign-up',
    passkeyRequest: createPasskeyRequestOptionsJson(context.challenges, context.provider.issuer, new Date()),
  });
  sendSignInPage(context, res, html, interaction, faults);
}

/** Query parameter of the sign-in page. With the value `other`, the user can sign in with a different account. */
const accountParameter = 'account';

/**
 * Returns the signed-in account, with the URL of the next page or the reason why the user must sign in again. Returns undefined if no user
 * is signed in, or if the user wants to sign in with a different account.
 */
function describeSignedInAccount(
  { settings: { messages } }: PageContext,
  req: Request,
  { interaction, next }: SignInState,
  application = '',
): SignedInAccount | undefined {
  const account = getOauthRequestContext(req).signedInAccount;
  if (!account || req.query[accountParameter] === 'other') return undefined;
  const { name, email } = account;
  const query = new URLSearchParams({ [accountParameter]: 'other', ...(next !== defaultPagePathAfterSignIn && { next }) });
  const otherAccountPath = `${signInPath(interaction)}?${query.toString()}`;
  const { reason } = messages.signIn;
  if (!interaction) {
    // All other pages that redirect to the sign-in page require a recent sign-in.
    return { name, email, otherAccountPath, next: next === defaultPagePathAfterSignIn ? { url: next } : { reason: reason.account } };
  }
  const { reasons } = interaction.prompt;
  // The user has signed in on another page in the meantime. The authorization endpoint checks the session again.
  if (reasons.every((one) => one === 'no_session')) return { name, email, otherAccountPath, next: { url: interaction.returnTo } };
  return { name, email, otherAccountPath, next: { reason: reason[findSignInReason(reasons)]({ application }) } };
}

/** Returns why an authorization request requires a new sign-in even though a user is signed in. */
function findSignInReason(reasons: readonly string[]): 'requested' | 'tooLongAgo' | 'secondFactor' | 'otherAccount' {
  if (reasons.includes('requested_acr')) return 'secondFactor';
  if (reasons.includes('id_token_hint') || reasons.includes('claims_id_token_sub_value')) return 'otherAccount';
  return reasons.includes('login_prompt') || !reasons.includes('max_age') ? 'requested' : 'tooLongAgo';
}

export function renderAndSendSecondFactorPage(
  context: PageContext,
  res: Response,
  { interaction, faults = [], ...content }: SignInState & { csrf: string; proof: string },
): void {
  const html = secondFactorPage(context.settings, {
    ...content,
    faults,
    path: signInPath(interaction),
    passkeyRequest: createPasskeyRequestOptionsJson(context.challenges, context.provider.issuer, new Date()),
  });
  sendSignInPage(context, res, html, interaction, faults);
}

export function renderAndSendEmailCodePage(
  context: PageContext,
  res: Response,
  { csrf, proof, interaction, faults = [] }: SignInState & { csrf: string; proof: string },
): void {
  const html = emailCodePage(context.settings, { csrf, proof, faults, path: signInPath(interaction) });
  sendSignInPage(context, res, html, interaction, faults);
}

export const signInPath = (interaction: Interaction | undefined): string => (interaction ? `/sign-in/${interaction.uid}` : '/sign-in');

function sendSignInPage(
  context: PageContext,
  res: Response,
  html: ReturnType<typeof signInPage>,
  interaction: Interaction | undefined,
  faults: readonly FieldError[],
): void {
  sendPage(context, res, html, {
    status: faults.length > 0 ? 400 : 200,
    ...(interaction && { returnTo: getAuthorizationRequestRedirectUri(interaction) }),
  });
}
