import { contract } from '@mandate/contract';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { sendPage, type PageContext } from '../../routing/page-context.ts';
import { localizePageSettingsForEmailToUser } from '../../views/select-and-store-page-language.ts';
import { linkExpiredPage, emailSentPage, requestPasswordResetPage } from '../../views/sign-in/email-link-pages.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { noticePage } from '../../views/message-pages.ts';
import { sendSignUpOrPasswordResetLink } from '../../emails/send-sign-up-or-password-reset-link.ts';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import type { EntityManager } from '../../../../database/entity-manager/entity-manager-type.ts';
import { queueMail } from '../../../../mail/queue-mail.ts';
import { markEmailVerifiedAndAudit } from '../../../../users/change-email-address-or-mark-verified.ts';
import { lockUserRow } from '../../../../users/lock-user-row.ts';
import { User } from '../../../../users/user.entity.ts';
import {
  listNonPasswordCredentials,
  removeNonPasswordCredentialsNotKept,
  partitionCredentialsIntoKeptAndRemoved,
  type AccountCredential,
  type CredentialSelection,
} from '../../../accounts/list-and-remove-non-password-credentials.ts';
import { storePasswordHash, findActiveAccountById } from '../../../accounts/accounts-and-passwords.ts';
import type { AccountRow } from '../../../storage/prefetched-record-and-client-types.ts';
import { findClientAddressAndBrowserByEmailOrId } from '../../routing/client-address-and-known-browser.ts';
import { consumeSecondFactorCode } from '../../../second-factors/authenticator-app-and-recovery-codes.ts';
import { revokeGrantsAndSessionsOfUser } from '../../../grants/revoke-grants-and-sessions-of-user.ts';
import {
  deleteEmailedLinksOfUser,
  readEmailedLinkWithoutConsuming,
  lockUserAndConsumeEmailedLink,
} from '../../../accounts/emailed-one-time-links.ts';
import { describeChangeTimeAndSource } from '../../emails/describe-change-time-and-source.ts';
import { sanitizeNameForEmail, renderEmail } from '../../emails/render-email.ts';
import { validateAndHashNewPassword } from './validate-and-hash-new-password.ts';
import { formatAccountCredentialName, newPasswordPage, passwordResetDonePage } from '../../views/sign-in/password-reset-pages.ts';

const { email: validEmail } = contract.users.create.body.shape;
const addressForm = z.object({ email: z.string().catch('') });

/** Handles `GET /password-reset`. */
export const showPasswordResetRequestForm = (context: PageContext) => async (req: Request, res: Response) =>
  renderRequestForm(context, req, res, '', []);

/** Handles `POST /password-reset`: sends the link. */
export const submitPasswordResetRequest = (context: PageContext) => async (req: Request, res: Response) => {
  const { messages } = context.settings;
  const { email } = addressForm.parse(req.body ?? {});
  const address = validEmail.safeParse(email);
  if (!address.success) return renderRequestForm(context, req, res, email, [{ field: 'email', text: messages.signUp.emailInvalid }]);
  if (!context.canMail)
    return sendPage(context, res, noticePage(context.settings, messages.noMail.title, messages.noMail.text), { status: 503 });
  await context.limits.countAttempt(
    'mail',
    address.data.toLowerCase(),
    await findClientAddressAndBrowserByEmailOrId(context, req, address.data),
  );
  await sendSignUpOrPasswordResetLink(context, 'password_reset', address.data, '', new Date());
  return sendPage(context, res, emailSentPage(context.settings, address.data, '/password-reset'));
};

/** Shows the form again after a submission without a valid CSRF token. */
export const showPasswordResetRequestFormOnCsrfError = (context: PageContext) => (req: Request, res: Response) => {
  const { email } = addressForm.parse(req.body ?? {});
  renderRequestForm(context, req, res, email, [{ field: 'email', text: context.settings.messages.stale }]);
};

function renderRequestForm(context: PageContext, req: Request, res: Response, email: string, faults: readonly FieldError[]): void {
  const html = requestPasswordResetPage(context.settings, { csrf: context.forms.issue(req, res), email, faults });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}

const readLinkToken = (req: Request): string => z.string().max(200).catch('').parse(req.query['token']);

const newPasswordForm = z.object({
  password: z.string().catch(''),
  /** Keys of the credentials to keep. */
  keep: z
    .union([z.string().transform((key) => [key]), z.array(z.string())])
    .catch([])
    .transform((keys) => new Set(keys)),
  code: z.string().trim().max(40).catch(''),
});
type NewPasswordForm = z.output<typeof newPasswordForm>;
const emptyForm: NewPasswordForm = { password: '', keep: new Set(), code: '' };

/** Handles `GET /password-reset/confirm`, the target of the link in the message. */
export const showNewPasswordForm = (context: PageContext) => async (req: Request, res: Response) => {
  const account = await findAccountOfLink(context.em, req, new Date());
  return account ? renderNewPassword(context, req, res, account, emptyForm, []) : sendLinkExpired(context, res);
};

/** Handles `POST /password-reset/confirm`: sets the password and removes every credential that the user did not choose to keep. */
export const submitNewPassword = (context: PageContext) => async (req: Request, res: Response) => {
  const { em, settings, limits } = context;
  const { messages } = settings;
  const account = await findAccountOfLink(em, req, new Date());
  if (!account) return sendLinkExpired(context, res);
  const form = newPasswordForm.parse(req.body ?? {});
  const { password, keep, code } = form;
  const showErrors = (faults: readonly FieldError[]) => renderNewPassword(context, req, res, account, form, faults);
  const now = new Date();
  const needsCode = partitionCredentialsIntoKeptAndRemoved(await listNonPasswordCredentials(em, account.id, now), keep).removed.some(
    (one) => isEstablishedApp(one, now),
  );
  const chosen = await validateAndHashNewPassword(password, account, settings);
  const faults: FieldError[] = 'reason' in chosen ? [{ field: 'password', text: chosen.reason }] : [];
  if (needsCode && code === '') faults.push({ field: 'code', text: messages.passwordReset.codeMissing });
  if (faults.length > 0 || 'reason' in chosen) return showErrors(faults);
  const source = await findClientAddressAndBrowserByEmailOrId(context, req, account.id);
  const attempt = needsCode ? await limits.countAttempt('secondFactor', String(account.id), source) : undefined;
  const outcome = await setPassword(context, req, { ...form, passwordHash: chosen.hash });
  if (outcome === 'link expired') return sendLinkExpired(context, res);
  if (outcome === 'wrong code') {
    const event = { action: 'password.reset', outcome: 'refused', userId: account.id, details: { what: 'code' } } as const;
    await recordAuditEvent(em, getClientAddressAndUserAgent(req), event, new Date());
    return showErrors([{ field: 'code', text: messages.passwordReset.codeWrong }]);
  }
  await attempt?.succeed();
  return sendPage(context, res, passwordResetDonePage(settings, outcome));
};

/** Shows the form again after a submission without a valid CSRF token. */
export const showNewPasswordFormOnCsrfError = (context: PageContext) => async (req: Request, res: Response) => {
  const account = await findAccountOfLink(context.em, req, new Date());
  if (!account) return sendLinkExpired(context, res);
  const form = newPasswordForm.parse(req.body ?? {});
  return renderNewPassword(context, req, res, account, form, [{ field: 'password', text: context.settings.messages.stale }]);
};

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Minimum age at which an authenticator app is considered established. A password reset removes an established app only if the user enters
 * a code, so that mailbox access alone does not bypass the second factor. A newer app may belong to an intruder; in that case, the account
 * owner could not enter a code. The owner was notified when the app was added.
 */
const establishedAfterMs = 14 * dayMs;

const isEstablishedApp = ({ kind, createdAt }: AccountCredential, now: Date): boolean =>
  kind === 'authenticator_app' && now.getTime() - createdAt.getTime() >= establishedAfterMs;

class WrongCodeError extends Error {}

/**
 * Sets the password, revokes all grants and sessions, and removes every credential that the user did not choose to keep, because an
 * intruder may have controlled the account. All of these changes are made in one transaction.
 */
const setPassword = (
  context: PageContext,
  req: Request,
  { passwordHash, keep, code }: NewPasswordForm & { readonly passwordHash: string },
): Promise<CredentialSelection | 'link expired' | 'wrong code'> =>
  context.em
    .transactional(async (em) => {
      const now = new Date();
      const account = await findAccountOfLink(em, req, now);
      if (!account) return 'link expired';
      await lockUserRow(em, account.id);
      if (!(await lockUserAndConsumeEmailedLink(em, 'password_reset', readLinkToken(req), now))) return 'link expired';
      const selection = partitionCredentialsIntoKeptAndRemoved(await listNonPasswordCredentials(em, account.id, now), keep);
      if (selection.removed.some((one) => isEstablishedApp(one, now))) await requireValidCode(context, em, req, account.id, code, now);
      await storePasswordHash(em, account.id, passwordHash, now);
      await markEmailVerifiedAndAudit(em, await em.findOneOrFail(User, { id: account.id }), getClientAddressAndUserAgent(req), now);
      await revokeGrantsAndSessionsOfUser(em, account.id);
      await removeNonPasswordCredentialsNotKept(em, account.id, selection, getClientAddressAndUserAgent(req), now);
      await deleteEmailedLinksOfUser(em, account.id);
      await recordAuditEvent(
        em,
        getClientAddressAndUserAgent(req),
        { action: 'password.reset', actorId: account.id, userId: account.id },
        now,
      );
      await notifyOwner(context, em, account, { ...selection, req }, now);
      return selection;
    })
    .catch((error: unknown) => {
      if (error instanceof WrongCodeError) return 'wrong code';
      throw error;
    });

/** @throws WrongCodeError, which rolls back the transaction, so that the link and the code remain usable */
async function requireValidCode(
  { keys }: PageContext,
  em: EntityManager,
  req: Request,
  userId: number,
  code: string,
  now: Date,
): Promise<void> {
  const taken = await consumeSecondFactorCode(em, keys.secondFactor, userId, code, now);
  if (taken === undefined) throw new WrongCodeError();
  if (taken === 'recovery code')
    await recordAuditEvent(em, getClientAddressAndUserAgent(req), { action: 'recovery_code.used', actorId: userId, userId }, now);
}

async function notifyOwner(
  context: PageContext,
  em: EntityManager,
  account: AccountRow,
  { removed, kept, req }: CredentialSelection & { readonly req: Request },
  now: Date,
): Promise<void> {
  const { keys, provider } = context;
  const settings = localizePageSettingsForEmailToUser(context.settings, account.locale);
  const { mail } = settings.messages;
  const shop = settings.shop.name;
  const list = (title: string, credentials: readonly AccountCredential[]) =>
    credentials.length === 0
      ? []
      : [{ title, items: credentials.map((one) => formatAccountCredentialName(settings.messages, one, sanitizeNameForEmail)) }];
  const content = {
    subject: mail.passwordChangedSubject({ shop }),
    text: mail.passwordChanged({ shop }),
    button: { url: `${provider.issuer}/password-reset`, label: 'choosePassword' as const },
    lists: [...list(mail.removed, removed), ...list(mail.kept, kept), describeChangeTimeAndSource(settings, now, req)],
    advice: mail.passwordAdvice,
  };
  await queueMail(em, keys.mail, renderEmail(account.email, settings, content), now);
}

/** Returns the active account that the link in the request belongs to. Call this before showing or changing anything. */
async function findAccountOfLink(em: EntityManager, req: Request, now: Date): Promise<AccountRow | undefined> {
  const link = await readEmailedLinkWithoutConsuming(em, 'password_reset', readLinkToken(req), now);
  return link?.userId == null ? undefined : findActiveAccountById(em, String(link.userId));
}

async function renderNewPassword(
  context: PageContext,
  req: Request,
  res: Response,
  { id, email }: AccountRow,
  { keep }: NewPasswordForm,
  faults: readonly FieldError[],
): Promise<void> {
  const credentials = await listNonPasswordCredentials(context.em, id, new Date());
  const html = newPasswordPage(context.settings, { csrf: context.forms.issue(req, res), email, credentials, keep, faults });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}

const sendLinkExpired = (context: PageContext, res: Response): void =>
  sendPage(context, res, linkExpiredPage(context.settings, '/password-reset'), { status: 400 });
