import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { resting } from '../../../http/server/load-shedder.ts';
import { queueMail } from '../../../mail/mail.ts';
import { seal, unseal } from '../../../crypto/authenticated-encryption.ts';
import { passwordSetAt, type SignInCandidate } from '../../accounts/account-store.ts';
import { attemptsCeiling, TooManyAttemptsError, type CountedAttempt } from '../../brute-force/attempt-limits.ts';
import { newRecoveryCode } from '../../second-factors/totp.ts';
import { mailTo } from '../emails/render-email.ts';
import type { PageContext } from '../routing/page-context.ts';
import { isUnspent } from '../../second-factors/passkeys.ts';

// Above the ceiling of failures an attacker with many networks could guess at full speed, and refusing everybody would lock the
// owner out. So a password or a code alone is not enough any more: the owner also confirms the sign-in with a code from an e-mail.
// Right and wrong guesses get the same page after the same time, so that a guess reveals nothing. Without e-mail, only a growing
// delay is left, because every stricter rule would also stop the owner.

const second = 1000;
const delayMax = 30 * second;
/** The delay doubles after so many failures. */
const failuresPerDoubling = 50;

const mustConfirm = ({ canMail }: PageContext, { aboveCeiling }: CountedAttempt): boolean => canMail && aboveCeiling > 0;

function delayOf({ canMail }: PageContext, { aboveCeiling }: CountedAttempt): number {
  if (aboveCeiling === 0) return 0;
  return canMail ? second : Math.min(delayMax, second * 2 ** Math.floor(aboveCeiling / failuresPerDoubling));
}

/** The step of a sign-in that the code confirms. */
export type ConfirmedStep = 'password' | 'second factor';
type Account = Pick<SignInCandidate, 'id' | 'email' | 'changed_at'>;

type Checked<Result> = { readonly result: Result; /** The state of the e-mail code page, if it is to be shown. */ readonly proof?: string };

/**
 * Runs a check of a password or a code. If the account has had too many failures, a right one sends a code by e-mail, and the
 * answer takes the same time either way.
 * @param check returns the account if the password or the code is right
 */
export async function checkUnderAttack<Result>(
  context: PageContext,
  req: Request,
  res: Response,
  given: { readonly attempt: CountedAttempt; readonly csrf: string; readonly step: ConfirmedStep; readonly next: string },
  check: () => Promise<{ readonly result: Result; readonly account: Account | undefined }>,
): Promise<Checked<Result>> {
  const delay = sleep(delayOf(context, given.attempt));
  const checking = (async () => {
    const { result, account } = await check();
    if (!mustConfirm(context, given.attempt)) return { result };
    return { result, proof: await sendCode(context, req, account, given, new Date()) };
  })();
  const [checked] = await Promise.all([checking, given.attempt.aboveCeiling > 0 ? resting(res, delay) : undefined]);
  return checked;
}

const lifetimeMs = 10 * 60 * second;
const content = z.object({
  accountId: z.string().transform(Number),
  passwordSetAt: z.string().transform(Number),
  step: z.enum(['password', 'second factor']),
  next: z.string(),
  code: z.string(),
  nonce: z.string(),
  until: z.number(),
});
type State = z.output<typeof content>;

const label = (csrf: string): string => `e-mail code in ${csrf}`;

/** Belongs to no account. */
const noAccount = 0;

/** @param account undefined if nothing is to be sent, which the returned state does not show */
async function sendCode(
  context: PageContext,
  req: Request,
  account: Account | undefined,
  { csrf, step, next }: { readonly csrf: string; readonly step: ConfirmedStep; readonly next: string },
  now: Date,
): Promise<string> {
  const code = newRecoveryCode();
  if (account && (await mayReceiveCode(context, req, account))) {
    const { shop, words } = context.setting;
    const link = `${context.provider.issuer}/password-reset`;
    const mail = { subject: words.mail.signInCodeSubject(shop.name), text: words.mail.signInCode(shop.name, code), link };
    await queueMail(context.em, context.keys.mail, mailTo(account.email, context.setting, mail), now);
  }
  const owner = { accountId: account?.id ?? noAccount, passwordSetAt: account ? passwordSetAt(account) : 0 };
  return sealCodeState(context.keys.secondFactor, csrf, { ...owner, step, next, code }, now);
}

/** Seals what the form of the e-mail code sends along. The result is valid for 10 minutes, and only with the same form token. */
export function sealCodeState(key: Buffer, csrf: string, state: Omit<State, 'nonce' | 'until'>, now: Date): string {
  // of one length, so that the sealed text does not show whether there is an account
  const accountId = String(state.accountId).padStart(16, '0');
  const setAt = String(state.passwordSetAt).padStart(16, '0');
  const sealed = {
    ...state,
    accountId,
    passwordSetAt: setAt,
    nonce: randomBytes(16).toString('base64url'),
    until: now.getTime() + lifetimeMs,
  };
  return seal(JSON.stringify(sealed), key, label(csrf));
}

async function mayReceiveCode({ limits }: PageContext, req: Request, { id }: Account): Promise<boolean> {
  try {
    await limits.begin('codeMail', String(id), { address: req.ip });
    return true;
  } catch (error) {
    if (error instanceof TooManyAttemptsError) return false; // an error page would tell that the password is right
    throw error;
  }
}

/** Reads the state that came with the form; undefined if it is from another browser or has expired. */
export function readCodeState(key: Buffer, csrf: string, proof: string, now: Date): State | undefined {
  const text = unseal(proof, key, label(csrf));
  if (text === undefined) return undefined;
  const state = content.parse(JSON.parse(text));
  return state.until > now.getTime() ? state : undefined;
}

const hashOf = (code: string): Buffer =>
  createHash('sha256')
    .update(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
    .digest();

/** Whether the code is the one that was sent; it is accepted once. */
export const isSentCode = async ({ em }: PageContext, state: State, code: string, now: Date): Promise<boolean> =>
  timingSafeEqual(hashOf(code), hashOf(state.code)) && state.accountId !== noAccount && isUnspent(em, state.nonce, now);

/** Tells the owner, once in the period of the ceiling, that others try to sign in. */
export async function notifyOfAttack(context: PageContext, { aboveCeiling }: CountedAttempt, account: Account | undefined): Promise<void> {
  if (aboveCeiling !== 1 || !account || !context.canMail) return;
  const { setting, em, keys } = context;
  const { underAttackSubject, underAttack } = setting.words.mail;
  const mail = { subject: underAttackSubject(setting.shop.name), text: underAttack(setting.shop.name, attemptsCeiling.password) };
  await queueMail(em, keys.mail, mailTo(account.email, setting, mail), new Date());
}
