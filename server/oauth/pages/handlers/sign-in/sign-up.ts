import { contract } from '@mandate/contract';
import type { Request, Response } from 'express';
import { errors } from 'oidc-provider';
import { z } from 'zod';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import { createAccountWithVerifiedEmail, EmailTakenError } from '../../../accounts/accounts-and-passwords.ts';
import { passwordAcrAndAmr } from '../../../protocol/acr-and-amr.ts';
import { requireActiveApplication } from '../../../grants/consents-and-grants.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { readEmailedLinkWithoutConsuming, lockUserAndConsumeEmailedLink } from '../../../accounts/emailed-one-time-links.ts';
import { validateAndHashNewPassword } from './validate-and-hash-new-password.ts';
import {
  getInteractionClientId,
  getAuthorizationRequestRedirectUri,
  sendPage,
  type Interaction,
  type PageContext,
} from '../../routing/page-context.ts';
import { findPreferredLanguage } from '../../views/select-and-store-page-language.ts';
import { linkExpiredPage, emailSentPage } from '../../views/sign-in/email-link-pages.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { signUpNameAndPasswordPage, signUpPage } from '../../views/sign-in/sign-up-pages-and-password-field.ts';
import { noticePage } from '../../views/message-pages.ts';
import { sendSignUpOrPasswordResetLink } from '../../emails/send-sign-up-or-password-reset-link.ts';
import { createUserNameError, userNameSchema } from '../user-name-schema-and-error.ts';
import { findPendingSignInInteraction } from './show-and-submit-sign-in-steps.ts';

/** The API's validation rule for e-mail addresses. */
const { email: validEmail } = contract.users.create.body.shape;

const signUpForm = z.object({ email: z.string().catch('') });

/** Handles `GET /sign-up`, and `GET /sign-in/:uid/sign-up` if an application requested the sign-in. */
export const showSignUpForm = (context: PageContext) => async (req: Request, res: Response) =>
  renderSignUpForm(context, req, res, await findPendingSignInInteraction(context, req, res), '', []);

/** Handles `POST /sign-up` and `POST /sign-in/:uid/sign-up`: sends the link. */
export const submitSignUpForm = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await findPendingSignInInteraction(context, req, res);
  const { messages } = context.settings;
  const { email } = signUpForm.parse(req.body ?? {});
  const showError = (text: string) => renderSignUpForm(context, req, res, interaction, email, [{ field: 'email', text }]);
  const address = validEmail.safeParse(email);
  if (!address.success) return showError(messages.signUp.emailInvalid);
  if (!context.canMail)
    return sendPage(context, res, noticePage(context.settings, messages.noMail.title, messages.noMail.text), { status: 503 });
  await context.limits.countAttempt('mail', address.data.toLowerCase(), { address: req.ip });
  await sendSignUpOrPasswordResetLink(context, 'sign_up', address.data, interaction ? `/sign-in/${interaction.uid}` : '', new Date());
  return sendPage(context, res, emailSentPage(context.settings, address.data, signUpPath(interaction)));
};

/** Shows the form again after a submission without a valid CSRF token. */
export const showSignUpFormOnCsrfError = (context: PageContext) => async (req: Request, res: Response) => {
  const { email } = signUpForm.parse(req.body ?? {});
  const interaction = await findPendingSignInInteraction(context, req, res);
  await renderSignUpForm(context, req, res, interaction, email, [{ field: 'email', text: context.settings.messages.stale }]);
};

const confirmForm = z.object({ name: z.string().catch(''), password: z.string().catch('') });
const readLinkToken = (req: Request): string => z.string().max(200).catch('').parse(req.query['token']);

/** Handles `GET /sign-up/confirm`, the target of the link in the message. */
export const showSignUpNameAndPasswordForm = (context: PageContext) => async (req: Request, res: Response) => {
  const link = await readEmailedLinkWithoutConsuming(context.em, 'sign_up', readLinkToken(req), new Date());
  if (!link) return sendLinkExpired(context, res);
  return sendPage(context, res, signUpNameAndPasswordPage(context.settings, { csrf: context.forms.issue(req, res), email: link.email }));
};

/** Handles `POST /sign-up/confirm`: creates the account and signs the user in. */
export const submitSignUpNameAndPassword = (context: PageContext) => async (req: Request, res: Response) => {
  const { em, settings } = context;
  const now = new Date();
  const link = await readEmailedLinkWithoutConsuming(em, 'sign_up', readLinkToken(req), now);
  if (!link) return sendLinkExpired(context, res);
  const { email } = link;
  const { name, password } = confirmForm.parse(req.body ?? {});
  const validated = userNameSchema.safeParse(name);
  const chosen = await validateAndHashNewPassword(password, { name, email }, settings);
  const faults: FieldError[] = [
    ...(validated.success ? [] : [createUserNameError(name, settings.messages)]),
    ...('reason' in chosen ? [{ field: 'password', text: chosen.reason }] : []),
  ];
  if (!validated.success || 'reason' in chosen) return renderConfirmErrors(context, req, res, { email, name, faults });
  const accountId = await openAccount(context, req, {
    name: validated.data,
    passwordHash: chosen.hash,
    locale: findPreferredLanguage(settings, req)?.tag,
  });
  if (accountId === undefined) return sendLinkExpired(context, res);
  const hasInteraction = await hasPendingInteraction(context, req, res);
  return completeSignIn(context, req, res, {
    accountId: String(accountId),
    proof: passwordAcrAndAmr,
    hasInteraction,
    next: '/account',
  });
};

/** Shows the form again after a submission without a valid CSRF token. */
export const showSignUpNameAndPasswordFormOnCsrfError = (context: PageContext) => async (req: Request, res: Response) => {
  const link = await readEmailedLinkWithoutConsuming(context.em, 'sign_up', readLinkToken(req), new Date());
  if (!link) return sendLinkExpired(context, res);
  const { name } = confirmForm.parse(req.body ?? {});
  return renderConfirmErrors(context, req, res, {
    email: link.email,
    name,
    faults: [{ field: 'name', text: context.settings.messages.stale }],
  });
};

function renderConfirmErrors(
  context: PageContext,
  req: Request,
  res: Response,
  content: { email: string; name: string; faults: readonly FieldError[] },
): void {
  const html = signUpNameAndPasswordPage(context.settings, { csrf: context.forms.issue(req, res), ...content });
  sendPage(context, res, html, { status: 400 });
}

/** Creates the account. Returns undefined if the link has been used or the address has been taken in the meantime. */
async function openAccount(
  { em }: PageContext,
  req: Request,
  { name, passwordHash, locale }: { name: string; passwordHash: string; locale: string | undefined },
): Promise<number | undefined> {
  const now = new Date();
  try {
    return await em.fork().transactional(async (inner) => {
      const link = await lockUserAndConsumeEmailedLink(inner, 'sign_up', readLinkToken(req), now);
      if (!link) return undefined;
      const { id } = await createAccountWithVerifiedEmail(inner, { name, email: link.email, passwordHash, locale }, now);
      await recordAuditEvent(inner, getClientAddressAndUserAgent(req), { action: 'account.created', actorId: id, userId: id }, now);
      return id;
    });
  } catch (error) {
    if (error instanceof EmailTakenError) return undefined;
    throw error;
  }
}

/**
 * Returns whether the application's interaction is still pending in this browser. The interaction is not pending if the user has opened the
 * link in a different browser.
 */
async function hasPendingInteraction(context: PageContext, req: Request, res: Response): Promise<boolean> {
  try {
    return (await findPendingSignInInteraction(context, req, res)) !== undefined;
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return false;
    throw error;
  }
}

const sendLinkExpired = (context: PageContext, res: Response): void =>
  sendPage(context, res, linkExpiredPage(context.settings, '/sign-up'), { status: 400 });

const signUpPath = (interaction: Interaction | undefined): string => (interaction ? `/sign-in/${interaction.uid}/sign-up` : '/sign-up');

async function renderSignUpForm(
  context: PageContext,
  req: Request,
  res: Response,
  interaction: Interaction | undefined,
  email: string,
  faults: readonly FieldError[],
): Promise<void> {
  const html = signUpPage(context.settings, {
    csrf: context.forms.issue(req, res),
    application: interaction && (await requireActiveApplication(context.em, getInteractionClientId(interaction))).name,
    email,
    faults,
    signInPath: interaction ? `/sign-in/${interaction.uid}` : '/sign-in',
  });
  sendPage(context, res, html, {
    status: faults.length > 0 ? 400 : 200,
    ...(interaction && { returnTo: getAuthorizationRequestRedirectUri(interaction) }),
  });
}
