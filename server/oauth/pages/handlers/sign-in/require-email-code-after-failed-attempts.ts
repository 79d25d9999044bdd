import { randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { releaseLoadShedderSlotWhile } from '../../../../http/server/load-shedder.ts';
import { queueMail } from '../../../../mail/queue-mail.ts';
import { encryptText, decryptText } from '../../../../crypto/authenticated-encryption.ts';
import { hashCodeTypedByUser } from '../../../../crypto/hash-typed-code.ts';
import { getPasswordSetTimeMs, type ActiveAccountAndPasswordHash } from '../../../accounts/accounts-and-passwords.ts';
import {
  maxPasswordFailuresBeforeEmailConfirmation,
  TooManyAttemptsError,
  type CountedAttempt,
} from '../../../brute-force/attempt-limiter.ts';
import { generateRecoveryCode } from '../../../second-factors/authenticator-app-and-recovery-codes.ts';
import { renderEmail } from '../../emails/render-email.ts';
import type { PageContext } from '../../routing/page-context.ts';
import { localizePageSettingsForEmailToOtherUser, localizePageSettingsForEmailToUser } from '../../views/select-and-store-page-language.ts';
import { consumeSingleUseIdentifier } from '../../../second-factors/passkeys.ts';

// Without further measures, an attacker who uses many networks could guess at full speed after exceeding the failure ceiling. Rejecting all
// attempts would lock the owner out. Therefore, a password or a TOTP code alone is no longer sufficient. The owner must also confirm the
// sign-in with a code sent by e-mail. Correct and wrong guesses return the same page after the same time, so that a guess reveals nothing.
// If the server cannot send e-mail, the only protection is an increasing delay, because any stricter rule would also lock out the owner.

const secondMs = 1000;
const delayMaxMs = 30 * secondMs;
/** Number of additional failures after which the delay doubles. */
const failuresPerDoubling = 50;

const mustConfirm = ({ canMail }: PageContext, { aboveCeiling }: CountedAttempt): boolean => canMail && aboveCeiling > 0;

function delayFor({ canMail }: PageContext, { aboveCeiling }: CountedAttempt): number {
  if (aboveCeiling === 0) return 0;
  return canMail ? secondMs : Math.min(delayMaxMs, secondMs * 2 ** Math.floor(aboveCeiling / failuresPerDoubling));
}

/** Sign-in step that the e-mail code confirms. */
export type SignInStep = 'password' | 'second factor';
type Account = Pick<ActiveAccountAndPasswordHash, 'id' | 'email' | 'locale' | 'changedAt'>;

type Checked<Result> = {
  readonly result: Result;
  /** Encrypted state of the e-mail code page, if that page must be shown. */ readonly proof?: string;
};

/**
 * Verifies a password or a code. After too many failures for an account, a correct password or code must be confirmed with another code,
 * which the server sends by e-mail. The response time does not reveal whether the password or code was correct.
 * @param check returns the account if the password or the code is correct
 */
export async function verifyCredentialRequiringCodeAfterFailures<Result>(
  context: PageContext,
  req: Request,
  res: Response,
  given: { readonly attempt: CountedAttempt; readonly csrf: string; readonly step: SignInStep; readonly next: string },
  check: () => Promise<{ readonly result: Result; readonly account: Account | undefined }>,
): Promise<Checked<Result>> {
  const delay = sleep(delayFor(context, given.attempt));
  const checking = (async () => {
    const { result, account } = await check();
    if (!mustConfirm(context, given.attempt)) return { result };
    return { result, proof: await sendEmailCode(context, req, account, given, new Date()) };
  })();
  const [checked] = await Promise.all([checking, given.attempt.aboveCeiling > 0 ? releaseLoadShedderSlotWhile(res, delay) : undefined]);
  return checked;
}

const lifetimeMs = 10 * 60 * secondMs;
const stateSchema = z.object({
  accountId: z.string().transform(Number),
  passwordSetAt: z.string().transform(Number),
  step: z.enum(['password', 'second factor']),
  next: z.string(),
  code: z.string(),
  nonce: z.string(),
  until: z.number(),
});
type State = z.output<typeof stateSchema>;

const encryptionContext = (csrf: string): string => `e-mail code in ${csrf}`;

/** Account ID stored in the state if no account exists. */
const noAccount = 0;

/**
 * Sends a code by e-mail and returns the encrypted state of the e-mail code page.
 * @param account undefined if no code is to be sent; the returned state does not reveal whether a code was sent
 */
async function sendEmailCode(
  context: PageContext,
  req: Request,
  account: Account | undefined,
  { csrf, step, next }: { readonly csrf: string; readonly step: SignInStep; readonly next: string },
  now: Date,
): Promise<string> {
  const code = generateRecoveryCode();
  if (account && (await mayReceiveCode(context, req, account))) {
    const settings = localizePageSettingsForEmailToUser(context.settings, account.locale);
    const { messages } = settings;
    const shop = settings.shop.name;
    const mail = {
      subject: messages.mail.signInCodeSubject({ shop }),
      text: messages.mail.signInCode({ shop }),
      code: { value: code, note: messages.mail.signInCodeNote },
      button: { url: `${context.provider.issuer}/password-reset`, label: 'choosePassword' as const },
    };
    await queueMail(context.em, context.keys.mail, renderEmail(account.email, settings, mail), now);
  }
  const owner = { accountId: account?.id ?? noAccount, passwordSetAt: account ? getPasswordSetTimeMs(account) : 0 };
  return encryptEmailCodeFormState(context.keys.secondFactor, csrf, { ...owner, step, next, code }, now);
}

/** Encrypts the e-mail code form's state. The result is valid for 10 minutes, and only with the same CSRF token. */
export function encryptEmailCodeFormState(key: Buffer, csrf: string, state: Omit<State, 'nonce' | 'until'>, now: Date): string {
  // The account ID and the time are padded, so that the length of the ciphertext does not reveal whether the account exists.
  const accountId = String(state.accountId).padStart(16, '0');
  const setAt = String(state.passwordSetAt).padStart(16, '0');
  const padded = {
    ...state,
    accountId,
    passwordSetAt: setAt,
    nonce: randomBytes(16).toString('base64url'),
    until: now.getTime() + lifetimeMs,
  };
  return encryptText(JSON.stringify(padded), key, encryptionContext(csrf));
}

async function mayReceiveCode({ limits }: PageContext, req: Request, { id }: Account): Promise<boolean> {
  try {
    await limits.countAttempt('codeMail', String(id), { address: req.ip });
    return true;
  } catch (error) {
    if (error instanceof TooManyAttemptsError) return false; // an error page would reveal that the password is correct
    throw error;
  }
}

/** Decrypts the state submitted with the form. Returns undefined if the state is from a different browser or has expired. */
export function decryptEmailCodeFormState(key: Buffer, csrf: string, proof: string, now: Date): State | undefined {
  const text = decryptText(proof, key, encryptionContext(csrf));
  if (text === undefined) return undefined;
  const state = stateSchema.parse(JSON.parse(text));
  return state.until > now.getTime() ? state : undefined;
}

const hashCode = (code: string): Buffer => Buffer.from(hashCodeTypedByUser(code));

/** Verifies the code that was sent by e-mail. A code is accepted only once. */
export const verifyAndConsumeEmailCode = async ({ em }: PageContext, state: State, code: string, now: Date): Promise<boolean> =>
  timingSafeEqual(hashCode(code), hashCode(state.code)) &&
  state.accountId !== noAccount &&
  consumeSingleUseIdentifier(em, state.nonce, now);

/** Notifies the account owner about an attack when an attempt first exceeds the failure ceiling. */
export async function emailAccountOwnerIfAttacked(
  context: PageContext,
  { aboveCeiling }: CountedAttempt,
  account: Account | undefined,
): Promise<void> {
  if (aboveCeiling !== 1 || !account || !context.canMail) return;
  const { em, keys, provider } = context;
  const settings = localizePageSettingsForEmailToOtherUser(context.settings, account.locale);
  const shop = settings.shop.name;
  const { underAttackSubject, underAttack, underAttackAdvice } = settings.messages.mail;
  const mail = {
    subject: underAttackSubject({ shop }),
    text: underAttack({ shop, failures: maxPasswordFailuresBeforeEmailConfirmation }),
    advice: underAttackAdvice,
    button: { url: `${provider.issuer}/password-reset`, label: 'choosePassword' as const },
  };
  await queueMail(em, keys.mail, renderEmail(account.email, settings, mail), new Date());
}
