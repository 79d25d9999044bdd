import type { Request, Response } from 'express';
import { getOauthRequestContext } from '../../../protocol/oauth-request-context.ts';
import { requireActiveApplication } from '../../../grants/consents-and-grants.ts';
import { listEnabledProviders } from '../../../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { createPasskeyRequestOptionsJson } from '../../../second-factors/passkeys.ts';
import {
  getInteractionClientId,
  getInteractionRedirectUri,
  sendPage,
  type Interaction,
  type PageContext,
} from '../../routing/page-context.ts';
import { emailCodePage } from '../../views/sign-in/email-code-page.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { secondFactorPage } from '../../views/sign-in/second-factor-page.ts';
import { signInPage } from '../../views/sign-in/sign-in-page.ts';

export type SignInState = { interaction: Interaction | undefined; next: string; faults?: readonly FieldError[] };

export async function renderSignInPage(
  context: PageContext,
  req: Request,
  res: Response,
  state: SignInState & { email?: string | undefined },
): Promise<void> {
  const { interaction, next, email = '', faults = [] } = state;
  const path = signInPath(interaction);
  const html = signInPage(context.settings, {
    csrf: context.forms.issue(req, res),
    application: interaction && (await requireActiveApplication(context.em, getInteractionClientId(interaction))).name,
    email,
    signedInAs: getOauthRequestContext(req).signedInAccount,
    faults,
    next,
    path,
    providers: await listEnabledProviders(context.em),
    signUpPath: interaction ? `${path}/sign-up` : '/sign-up',
    passkeyRequest: createPasskeyRequestOptionsJson(context.challenges, context.provider.issuer, new Date()),
  });
  sendSignInPage(context, res, html, interaction, faults);
}

export function renderSecondFactorPage(
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

export function renderEmailCodePage(
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
    ...(interaction && { returnTo: getInteractionRedirectUri(interaction) }),
  });
}
