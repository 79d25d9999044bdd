import type { Request, Response } from 'express';
import { z } from 'zod';
import { recordAuditEvent, sourceOf } from '../../../audit/record-audit-event.ts';
import { findSignInCandidate, passwordSetAt } from '../../accounts/account-store.ts';
import { sourceOfAttempt } from './attempt-source.ts';
import { appSince, takeCode } from '../../second-factors/totp.ts';
import { checkUnderAttack, isSentCode, notifyOfAttack, readCodeState } from './email-code.ts';
import { byPasskey, byPassword, byPasswordAndCode } from '../../protocol/acr-and-amr.ts';
import { findApplication } from '../../grants/consent.ts';
import { letIn } from './complete-sign-in.ts';
import {
  clientIdOf,
  parameter,
  pendingInteraction,
  returnAddress,
  sendPage,
  type Interaction,
  type PageContext,
} from '../routing/page-context.ts';
import { emailCodePage } from '../views/email-code-page.ts';
import type { Fault } from '../views/page-layout.ts';
import { secondFactorPage } from '../views/second-factor-page.ts';
import { signInPage } from '../views/sign-in-page.ts';
import { requestOptions, verifyPasskey } from '../../second-factors/passkeys.ts';
import { issueProof, readProof } from '../../second-factors/second-step-ticket.ts';
import { passwordMatches } from '../../passwords/password-hash.ts';

/** A page of the account: nobody is sent anywhere else. */
const nextPage = z
  .string()
  .regex(/^\/account(\/[a-z-]+)*$/)
  .catch('/account');

const signInForm = z.object({
  csrf: z.string().catch(''),
  email: z.string().trim().max(254).catch(''),
  password: z.string().max(1000).catch(''),
  next: nextPage,
});

/** `GET` and `POST /sign-in`, and `/sign-in/:uid` when an application asked for it. */
export const showSignIn = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await interactionOf(context, req, res);
  const email = interaction && parameter(interaction.params, 'login_hint');
  await render(context, req, res, { interaction, email, next: nextPage.parse(req.query['next']) });
};

export const submitSignIn = (context: PageContext) => async (req: Request, res: Response) => {
  const { words } = context.setting;
  const interaction = await interactionOf(context, req, res);
  const { csrf, email, password, next } = signInForm.parse(req.body ?? {});
  const answer = (faults: readonly Fault[]) => render(context, req, res, { interaction, email, next, faults });
  const missing = [
    ...(email === '' ? [{ field: 'email', text: words.signIn.emailMissing }] : []),
    ...(password === '' ? [{ field: 'password', text: words.signIn.passwordMissing }] : []),
  ];
  if (missing.length > 0) return answer(missing);
  const account = await findSignInCandidate(context.em, email);
  const attempt = await context.limits.begin('password', email.toLowerCase(), sourceOfAttempt(context, req, account));
  const { result: proved, proof } = await checkUnderAttack(context, req, res, { attempt, csrf, step: 'password', next }, async () => {
    if (account && (await passwordMatches(password, account.hash ?? undefined))) return { result: account, account };
    if (!account) await passwordMatches(password, undefined); // takes as long as for an existing account
    await refused(context, req, account?.id, 'password');
    await notifyOfAttack(context, attempt, account);
    return { result: undefined, account: undefined };
  });
  if (proof !== undefined) return askForEmailCode(context, res, { csrf, proof, next, interaction, faults: [] });
  if (proved === undefined) return answer([{ field: 'email', text: words.signIn.wrong }]);
  await attempt.succeed();
  return afterPassword(context, req, res, { accountId: proved.id, passwordSetAt: passwordSetAt(proved), csrf, next, interaction });
};

type PasswordProved = State & { readonly accountId: number; readonly passwordSetAt: number; readonly csrf: string };

/** Completes the sign-in, or asks for the second factor if the account has one. */
async function afterPassword(context: PageContext, req: Request, res: Response, proved: PasswordProved): Promise<void> {
  const { accountId, passwordSetAt: setAt, csrf, next, interaction } = proved;
  if ((await appSince(context.em, accountId)) === undefined) {
    const hasInteraction = interaction !== undefined;
    return letIn(context, req, res, { accountId: String(accountId), proof: byPassword, passwordSetAt: setAt, hasInteraction, next });
  }
  const proof = issueProof(context.keys.secondFactor, csrf, { accountId, passwordSetAt: setAt, next }, new Date());
  return askForCode(context, res, { csrf, proof, next, interaction, faults: [] });
}

/** Shows the sign-in page again, for a form without a valid token. */
export const showStaleSignIn = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await interactionOf(context, req, res);
  const { email, next } = signInForm.parse(req.body ?? {});
  await render(context, req, res, { interaction, email, next, faults: [{ field: 'email', text: context.setting.words.stale }] });
};

const codeForm = z.object({ csrf: z.string().catch(''), proof: z.string().max(2000).catch(''), code: z.string().trim().max(40).catch('') });

/** `POST /sign-in/second-factor`: the password was right, and the account wants more. */
export const submitSecondFactor = (context: PageContext) => async (req: Request, res: Response) => {
  const { secondFactor: words } = context.setting.words;
  const interaction = await interactionOf(context, req, res);
  const { csrf, proof, code } = codeForm.parse(req.body ?? {});
  const now = new Date();
  const proved = readProof(context.keys.secondFactor, csrf, proof, now);
  if (!proved) return showStaleSecondFactor(context)(req, res);
  const { accountId, passwordSetAt: setAt, next } = proved;
  const again = (text: string) => askForCode(context, res, { csrf, proof, next, interaction, faults: [{ field: 'code', text }] });
  if (code === '') return again(words.missing);
  const account = await findSignInCandidate(context.em, accountId);
  const attempt = await context.limits.begin('secondFactor', String(accountId), sourceOfAttempt(context, req, account));
  const given = { attempt, csrf, step: 'second factor', next } as const;
  const { result: isRight, proof: sent } = await checkUnderAttack(context, req, res, given, async () => {
    const taken = await takeCode(context.em, context.keys.secondFactor, accountId, code, now);
    if (taken === undefined) await refused(context, req, accountId, 'code');
    if (taken === 'recovery code') {
      await recordAuditEvent(context.em, sourceOf(req), { action: 'recovery_code.used', actorId: accountId, userId: accountId }, now);
    }
    return { result: taken !== undefined, account: taken && account };
  });
  if (sent !== undefined) return askForEmailCode(context, res, { csrf, proof: sent, next, interaction, faults: [] });
  if (!isRight) return again(words.wrong);
  await attempt.succeed();
  const hasInteraction = interaction !== undefined;
  const arrival = { accountId: String(accountId), proof: byPasswordAndCode, passwordSetAt: setAt, hasInteraction, next };
  return letIn(context, req, res, arrival);
};

/** `POST /sign-in/e-mail-code`: the account has had many failures, and the owner confirms the sign-in. */
export const submitEmailCode = (context: PageContext) => async (req: Request, res: Response) => {
  const { emailCode: words } = context.setting.words;
  const interaction = await interactionOf(context, req, res);
  const { csrf, proof, code } = codeForm.parse(req.body ?? {});
  const now = new Date();
  const state = readCodeState(context.keys.secondFactor, csrf, proof, now);
  if (!state) return showStaleSecondFactor(context)(req, res);
  const { accountId, passwordSetAt: setAt, step, next } = state;
  const again = (text: string) => askForEmailCode(context, res, { csrf, proof, next, interaction, faults: [{ field: 'code', text }] });
  if (code === '') return again(words.missing);
  const attempt = await context.limits.begin('emailCode', proof, { address: req.ip });
  if (!(await isSentCode(context, state, code, now))) {
    await refused(context, req, accountId === 0 ? undefined : accountId, 'e-mail code');
    return again(words.wrong);
  }
  await attempt.succeed();
  if (step === 'password') return afterPassword(context, req, res, { accountId, passwordSetAt: setAt, csrf, next, interaction });
  const hasInteraction = interaction !== undefined;
  const arrival = { accountId: String(accountId), proof: byPasswordAndCode, passwordSetAt: setAt, hasInteraction, next };
  return letIn(context, req, res, arrival);
};

/** Shows the sign-in page again: the password was given too long ago, or in another browser. */
export const showStaleSecondFactor = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await interactionOf(context, req, res);
  const faults = [{ field: 'email', text: context.setting.words.secondFactor.over }];
  await render(context, req, res, { interaction, next: '/account', faults });
};

const passkeyForm = z.object({ passkey: z.string().catch(''), next: nextPage });

/** `POST /sign-in/passkey`: in the place of both. */
export const submitPasskey = (context: PageContext) => async (req: Request, res: Response) => {
  const { words } = context.setting;
  const interaction = await interactionOf(context, req, res);
  const { passkey, next } = passkeyForm.parse(req.body ?? {});
  const answer = (text: string) => render(context, req, res, { interaction, next, faults: [{ field: 'email', text }] });
  const attempt = await context.limits.begin('passkey', passkey, { address: req.ip });
  const found = await verifyPasskey(context.em, context.challenges, context.provider.issuer, passkey, new Date());
  if (!found) {
    await refused(context, req, undefined, 'passkey');
    return answer(words.passkey.failed);
  }
  await attempt.succeed();
  return letIn(context, req, res, { accountId: String(found.userId), proof: byPasskey, hasInteraction: interaction !== undefined, next });
};

export const interactionOf = (context: PageContext, req: Request, res: Response): Promise<Interaction | undefined> =>
  req.params['uid'] === undefined ? Promise.resolve(undefined) : pendingInteraction(context, req, res, 'login');

/** Written down for known and unknown accounts alike, so that it takes the same time. */
const refused = (context: PageContext, req: Request, userId: number | undefined, what: string): Promise<void> =>
  recordAuditEvent(context.em, sourceOf(req), { action: 'session.started', outcome: 'refused', userId, details: { what } }, new Date());

type State = { interaction: Interaction | undefined; next: string; faults?: readonly Fault[] };

async function render(context: PageContext, req: Request, res: Response, state: State & { email?: string | undefined }): Promise<void> {
  const { interaction, next, email = '', faults = [] } = state;
  const path = pathOfSignIn(interaction);
  const html = signInPage(context.setting, {
    csrf: context.forms.token(req, res),
    application: interaction && (await findApplication(context.em, clientIdOf(interaction))).name,
    email,
    faults,
    next,
    path,
    signUpPath: interaction ? `${path}/sign-up` : '/sign-up',
    passkeyRequest: requestOptions(context.challenges, context.provider.issuer, new Date()),
  });
  sendSignInPage(context, res, html, interaction, faults);
}

function askForCode(
  context: PageContext,
  res: Response,
  { interaction, faults = [], ...content }: State & { csrf: string; proof: string },
): void {
  const html = secondFactorPage(context.setting, {
    ...content,
    faults,
    path: pathOfSignIn(interaction),
    passkeyRequest: requestOptions(context.challenges, context.provider.issuer, new Date()),
  });
  sendSignInPage(context, res, html, interaction, faults);
}

function askForEmailCode(
  context: PageContext,
  res: Response,
  { csrf, proof, interaction, faults = [] }: State & { csrf: string; proof: string },
): void {
  const html = emailCodePage(context.setting, { csrf, proof, faults, path: pathOfSignIn(interaction) });
  sendSignInPage(context, res, html, interaction, faults);
}

const pathOfSignIn = (interaction: Interaction | undefined): string => (interaction ? `/sign-in/${interaction.uid}` : '/sign-in');

function sendSignInPage(
  context: PageContext,
  res: Response,
  html: ReturnType<typeof signInPage>,
  interaction: Interaction | undefined,
  faults: readonly Fault[],
): void {
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200, ...(interaction && { returnTo: returnAddress(interaction) }) });
}
