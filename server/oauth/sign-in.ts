import type { Request, Response } from 'express';
import { z } from 'zod';
import { recordAuditEvent, sourceOf } from '../audit/record-audit-event.ts';
import { checkPassword } from './accounts.ts';
import { appSince, takeCode } from './authenticator-app.ts';
import { byPasskey, byPassword, byPasswordAndCode } from './proofs-of-identity.ts';
import { findApplication } from './consent.ts';
import { letIn } from './let-in.ts';
import { clientIdOf, parameter, pendingInteraction, returnAddress, sendPage, type Interaction, type PageContext } from './page-context.ts';
import type { Fault } from './pages/page.ts';
import { secondFactorPage } from './pages/second-factor-page.ts';
import { signInPage } from './pages/sign-in-page.ts';
import { requestOptions, verifyPasskey } from './passkeys.ts';
import { issueProof, readProof } from './password-proof.ts';

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
  if (!context.forms.accepts(req, csrf)) return answer([{ field: 'email', text: words.stale }]);
  const missing = [
    ...(email === '' ? [{ field: 'email', text: words.signIn.emailMissing }] : []),
    ...(password === '' ? [{ field: 'password', text: words.signIn.passwordMissing }] : []),
  ];
  if (missing.length > 0) return answer(missing);
  const right = await context.limits.begin('password', email.toLowerCase(), req.ip);
  const { matches, accountId } = await checkPassword(context.em, email, password);
  if (!matches || accountId === undefined) {
    await refused(context, req, accountId, 'password');
    return answer([{ field: 'email', text: words.signIn.wrong }]);
  }
  await right();
  const hasInteraction = interaction !== undefined;
  if ((await appSince(context.em, accountId)) === undefined) {
    return letIn(context, req, res, { accountId: String(accountId), proof: byPassword, hasInteraction, next });
  }
  const proof = issueProof(context.keys.secondFactor, csrf, { accountId, next }, new Date());
  return askForCode(context, res, { csrf, proof, next, interaction, faults: [] });
};

const codeForm = z.object({ csrf: z.string().catch(''), proof: z.string().max(2000).catch(''), code: z.string().trim().max(40).catch('') });

/** `POST /sign-in/second-factor`: the password was right, and the account wants more. */
export const submitSecondFactor = (context: PageContext) => async (req: Request, res: Response) => {
  const { secondFactor: words } = context.setting.words;
  const interaction = await interactionOf(context, req, res);
  const { csrf, proof, code } = codeForm.parse(req.body ?? {});
  const now = new Date();
  const proved = context.forms.accepts(req, csrf) ? readProof(context.keys.secondFactor, csrf, proof, now) : undefined;
  if (!proved) return render(context, req, res, { interaction, next: '/account', faults: [{ field: 'email', text: words.over }] });
  const { accountId, next } = proved;
  const again = (text: string) => askForCode(context, res, { csrf, proof, next, interaction, faults: [{ field: 'code', text }] });
  if (code === '') return again(words.missing);
  const right = await context.limits.begin('secondFactor', String(accountId), req.ip);
  const taken = await takeCode(context.em, context.keys.secondFactor, accountId, code, now);
  if (taken === undefined) {
    await refused(context, req, accountId, 'code');
    return again(words.wrong);
  }
  await right();
  if (taken === 'recovery code') {
    await recordAuditEvent(context.em, sourceOf(req), { action: 'recovery_code.used', actorId: accountId, userId: accountId }, now);
  }
  const arrival = { accountId: String(accountId), proof: byPasswordAndCode, hasInteraction: interaction !== undefined, next };
  return letIn(context, req, res, arrival);
};

const passkeyForm = z.object({ csrf: z.string().catch(''), passkey: z.string().catch(''), next: nextPage });

/** `POST /sign-in/passkey`: in the place of both. */
export const submitPasskey = (context: PageContext) => async (req: Request, res: Response) => {
  const { words } = context.setting;
  const interaction = await interactionOf(context, req, res);
  const { csrf, passkey, next } = passkeyForm.parse(req.body ?? {});
  const answer = (text: string) => render(context, req, res, { interaction, next, faults: [{ field: 'email', text }] });
  if (!context.forms.accepts(req, csrf)) return answer(words.stale);
  const right = await context.limits.begin('secondFactor', passkey, req.ip); // nothing to guess, but work to cause
  const found = await verifyPasskey(context.em, context.challenges, context.provider.issuer, passkey, new Date());
  if (!found) {
    await refused(context, req, undefined, 'passkey');
    return answer(words.passkey.failed);
  }
  await right();
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
