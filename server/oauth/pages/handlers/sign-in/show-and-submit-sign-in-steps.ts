import type { Request, Response } from 'express';
import { z } from 'zod';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import {
  findActiveAccountAndPasswordHash,
  getPasswordSetTimeMs,
  verifyAccountPasswordAndRehash,
} from '../../../accounts/accounts-and-passwords.ts';
import { getClientAddressAndKnownBrowser } from '../../routing/client-address-and-known-browser.ts';
import { findWhenAuthenticatorAppWasAdded, consumeSecondFactorCode } from '../../../second-factors/authenticator-app-and-recovery-codes.ts';
import {
  verifyCredentialRequiringCodeAfterFailures,
  verifyAndConsumeEmailCode,
  emailAccountOwnerIfAttacked,
  decryptEmailCodeFormState,
} from './require-email-code-after-failed-attempts.ts';
import {
  addAuthenticatorCodeToAcrAndAmr,
  passkeyAcrAndAmr,
  passwordAcrAndAmr,
  passwordAndCodeAcrAndAmr,
} from '../../../protocol/acr-and-amr.ts';
import { nextPagePathSchema } from './next-page-path-schema.ts';
import {
  renderAndSendEmailCodePage,
  renderAndSendSecondFactorPage,
  renderAndSendSignInPage,
  type SignInState,
} from './render-and-send-sign-in-pages.ts';
import { completeSignIn, type AuthenticatedUser } from './complete-sign-in.ts';
import { getStringParameter, requirePendingInteraction, type Interaction, type PageContext } from '../../routing/page-context.ts';
import { wasSubmittedByLanguageSwitch } from '../../views/select-and-store-page-language.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { verifyPasskeyAndRecordUse } from '../../../second-factors/passkeys.ts';
import { issueFirstFactorTicket, decryptFirstFactorTicket, type VerifiedFirstFactor } from '../../../second-factors/first-factor-ticket.ts';

const signInForm = z.object({
  csrf: z.string().catch(''),
  email: z.string().trim().max(254).catch(''),
  password: z.string().max(1000).catch(''),
  next: nextPagePathSchema,
});

/** Handles `GET /sign-in`, and `GET /sign-in/:uid` if an application requested the sign-in. */
export const showSignIn = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await findPendingSignInInteraction(context, req, res);
  const email = interaction && getStringParameter(interaction.params, 'login_hint');
  await renderAndSendSignInPage(context, req, res, { interaction, email, next: nextPagePathSchema.parse(req.query['next']) });
};

/** Handles `POST /sign-in` and `POST /sign-in/:uid`: verifies the password. */
export const submitSignIn = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await findPendingSignInInteraction(context, req, res);
  const { messages } = context.settings;
  const { csrf, email, password, next } = signInForm.parse(req.body ?? {});
  const showErrors = (faults: readonly FieldError[]) => renderAndSendSignInPage(context, req, res, { interaction, email, next, faults });
  const missing = [
    ...(email === '' ? [{ field: 'email', text: messages.signIn.emailMissing }] : []),
    ...(password === '' ? [{ field: 'password', text: messages.signIn.passwordMissing }] : []),
  ];
  if (missing.length > 0) return showErrors(missing);
  const account = await findActiveAccountAndPasswordHash(context.em, email);
  const source = getClientAddressAndKnownBrowser(context, req, account);
  const attempt = await context.limits.countAttempt('password', email.toLowerCase(), source);
  const { result: proved, proof } = await verifyCredentialRequiringCodeAfterFailures(
    context,
    req,
    res,
    { attempt, csrf, step: 'password', next },
    async () => {
      if (await verifyAccountPasswordAndRehash(context.em, account, password)) return { result: account, account };
      await auditFailure(context, req, account?.id, 'password');
      await emailAccountOwnerIfAttacked(context, attempt, account);
      return { result: undefined, account: undefined };
    },
  );
  if (proof !== undefined) return renderAndSendEmailCodePage(context, res, { csrf, proof, next, interaction, faults: [] });
  if (proved === undefined) return showErrors([{ field: 'email', text: messages.signIn.wrong }]);
  await attempt.succeed();
  return continueAfterPassword(context, req, res, {
    accountId: proved.id,
    passwordSetAt: getPasswordSetTimeMs(proved),
    csrf,
    next,
    interaction,
  });
};

type VerifiedPassword = SignInState & { readonly accountId: number; readonly passwordSetAt: number; readonly csrf: string };

/** Completes the sign-in, or shows the second-factor page if the account has a second factor. */
async function continueAfterPassword(context: PageContext, req: Request, res: Response, proved: VerifiedPassword): Promise<void> {
  const { accountId, passwordSetAt: setAt, csrf, next, interaction } = proved;
  if ((await findWhenAuthenticatorAppWasAdded(context.em, accountId)) === undefined) {
    const hasInteraction = interaction !== undefined;
    return completeSignIn(context, req, res, {
      accountId: String(accountId),
      proof: passwordAcrAndAmr,
      passwordSetAt: setAt,
      hasInteraction,
      next,
    });
  }
  const proof = issueFirstFactorTicket(context.keys.secondFactor, csrf, { accountId, passwordSetAt: setAt, next }, new Date());
  return renderAndSendSecondFactorPage(context, res, { csrf, proof, next, interaction, faults: [] });
}

/** Shows the sign-in page again after a submission without a valid CSRF token. */
export const showSignInOnCsrfError = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await findPendingSignInInteraction(context, req, res);
  const { email, next } = signInForm.parse(req.body ?? {});
  await renderAndSendSignInPage(context, req, res, {
    interaction,
    email,
    next,
    faults: [{ field: 'email', text: context.settings.messages.stale }],
  });
};

const codeForm = z.object({ csrf: z.string().catch(''), proof: z.string().max(2000).catch(''), code: z.string().trim().max(40).catch('') });

/** Handles `POST /sign-in/second-factor`: verifies the code after a correct password. */
export const submitSecondFactor = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await findPendingSignInInteraction(context, req, res);
  const { secondFactor: messages } = context.settings.messages;
  const { csrf, proof, code } = codeForm.parse(req.body ?? {});
  const now = new Date();
  const proved = decryptFirstFactorTicket(context.keys.secondFactor, csrf, proof, now);
  if (!proved) return showSignInAfterSignInStepExpired(context)(req, res);
  const { accountId, next } = proved;
  const showError = (text: string) =>
    renderAndSendSecondFactorPage(context, res, { csrf, proof, next, interaction, faults: [{ field: 'code', text }] });
  if (wasSubmittedByLanguageSwitch(req)) return renderAndSendSecondFactorPage(context, res, { csrf, proof, next, interaction });
  if (code === '') return showError(messages.missing);
  const account = await findActiveAccountAndPasswordHash(context.em, accountId);
  const attempt = await context.limits.countAttempt(
    'secondFactor',
    String(accountId),
    getClientAddressAndKnownBrowser(context, req, account),
  );
  const given = { attempt, csrf, step: 'second factor', next } as const;
  const { result: isRight, proof: sent } = await verifyCredentialRequiringCodeAfterFailures(context, req, res, given, async () => {
    const taken = await consumeSecondFactorCode(context.em, context.keys.secondFactor, accountId, code, now);
    if (taken === undefined) await auditFailure(context, req, accountId, 'code');
    if (taken === 'recovery code') {
      await recordAuditEvent(
        context.em,
        getClientAddressAndUserAgent(req),
        { action: 'recovery_code.used', actorId: accountId, userId: accountId },
        now,
      );
    }
    return { result: taken !== undefined, account: taken && account };
  });
  if (sent !== undefined) return renderAndSendEmailCodePage(context, res, { csrf, proof: sent, next, interaction, faults: [] });
  if (!isRight) return showError(messages.wrong);
  await attempt.succeed();
  return completeSignIn(context, req, res, authenticatedWithCode(proved, interaction));
};

/** Returns the sign-in of a user who has entered a code after a password or after a sign-in at an identity provider. */
const authenticatedWithCode = (
  { accountId, passwordSetAt, provider, next }: VerifiedFirstFactor,
  interaction: Interaction | undefined,
): AuthenticatedUser => ({
  accountId: String(accountId),
  proof: provider ? addAuthenticatorCodeToAcrAndAmr(provider.amr) : passwordAndCodeAcrAndAmr,
  passwordSetAt,
  provider,
  loginTs: provider?.loginTs,
  hasInteraction: interaction !== undefined,
  next,
});

/** Handles `POST /sign-in/e-mail-code`: verifies the code that confirms a sign-in after many failures. */
export const submitEmailCode = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await findPendingSignInInteraction(context, req, res);
  const { emailCode: messages } = context.settings.messages;
  const { csrf, proof, code } = codeForm.parse(req.body ?? {});
  const now = new Date();
  const state = decryptEmailCodeFormState(context.keys.secondFactor, csrf, proof, now);
  if (!state) return showSignInAfterSignInStepExpired(context)(req, res);
  const { accountId, passwordSetAt: setAt, step, next } = state;
  const showError = (text: string) =>
    renderAndSendEmailCodePage(context, res, { csrf, proof, next, interaction, faults: [{ field: 'code', text }] });
  if (wasSubmittedByLanguageSwitch(req)) return renderAndSendEmailCodePage(context, res, { csrf, proof, next, interaction });
  if (code === '') return showError(messages.missing);
  const attempt = await context.limits.countAttempt('emailCode', proof, { address: req.ip });
  if (!(await verifyAndConsumeEmailCode(context, state, code, now))) {
    await auditFailure(context, req, accountId === 0 ? undefined : accountId, 'e-mail code');
    return showError(messages.wrong);
  }
  await attempt.succeed();
  if (step === 'password') return continueAfterPassword(context, req, res, { accountId, passwordSetAt: setAt, csrf, next, interaction });
  return completeSignIn(context, req, res, authenticatedWithCode({ accountId, passwordSetAt: setAt, next }, interaction));
};

/** Shows the sign-in page again, because the password was entered too long ago or in a different browser. */
export const showSignInAfterSignInStepExpired = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await findPendingSignInInteraction(context, req, res);
  const faults = [{ field: 'email', text: context.settings.messages.secondFactor.over }];
  await renderAndSendSignInPage(context, req, res, { interaction, next: '/account', faults });
};

const passkeyForm = z.object({ passkey: z.string().catch(''), next: nextPagePathSchema });

/** Handles `POST /sign-in/passkey`: a passkey replaces both the password and the code. */
export const submitPasskeySignIn = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await findPendingSignInInteraction(context, req, res);
  const { messages } = context.settings;
  const { passkey, next } = passkeyForm.parse(req.body ?? {});
  const showError = (text: string) => renderAndSendSignInPage(context, req, res, { interaction, next, faults: [{ field: 'email', text }] });
  const attempt = await context.limits.countAttempt('passkey', passkey, { address: req.ip });
  const found = await verifyPasskeyAndRecordUse(context.em, context.challenges, context.provider.issuer, passkey, new Date());
  if (!found) {
    await auditFailure(context, req, undefined, 'passkey');
    return showError(messages.passkey.failed);
  }
  await attempt.succeed();
  return completeSignIn(context, req, res, {
    accountId: String(found.userId),
    proof: passkeyAcrAndAmr,
    hasInteraction: interaction !== undefined,
    next,
  });
};

/** Returns the pending interaction of a sign-in that an application requested, or undefined. */
export const findPendingSignInInteraction = (context: PageContext, req: Request, res: Response): Promise<Interaction | undefined> =>
  req.params['uid'] === undefined ? Promise.resolve(undefined) : requirePendingInteraction(context, req, res, 'login');

/**
 * Records a failed attempt in the audit log, even for an unknown account, so that the response time does not reveal whether an account
 * exists.
 */
const auditFailure = (context: PageContext, req: Request, userId: number | undefined, what: string): Promise<void> =>
  recordAuditEvent(
    context.em,
    getClientAddressAndUserAgent(req),
    { action: 'session.started', outcome: 'refused', userId, details: { what } },
    new Date(),
  );
