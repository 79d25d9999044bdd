import { contract } from '@mandate/contract';
import { LockMode } from '@mikro-orm/core';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import { recordEvent } from '../../../../events/record-event.ts';
import { Problem } from '../../../../http/problem-details/problem.ts';
import { queueMail } from '../../../../mail/queue-mail.ts';
import { changeEmailAddressNotifyAndAudit, markEmailVerifiedAndAudit } from '../../../../users/change-email-address-or-mark-verified.ts';
import { buildEmailEqualsFilter } from '../../../../users/build-email-equals-filter.ts';
import { userFromEntity } from '../../../../users/user-from-entity.ts';
import { User } from '../../../../users/user.entity.ts';
import { lockAccountAndRequireActiveSession, type AccountRequest } from './signed-in-page-guards.ts';
import { deleteLinksAndMailOldAndNewAddress, emailConfirmationPath } from '../../emails/delete-links-and-notify-on-email-change.ts';
import {
  deleteEmailedLinksOfUser,
  readEmailedLinkWithoutConsuming,
  storeEmailedLinkAndReturnToken,
  lockUserAndConsumeEmailedLink,
} from '../../../accounts/emailed-one-time-links.ts';
import { renderEmail } from '../../emails/render-email.ts';
import { sendPage, type PageContext } from '../../routing/page-context.ts';
import { localizePageSettingsForEmailToUser } from '../../views/select-and-store-page-language.ts';
import { changeEmailPage, renderAccountSuccessPage } from '../../views/account/account-subpage-layout-and-basic-forms.ts';
import { confirmEmailChangePage, linkExpiredPage, emailSentPage } from '../../views/sign-in/email-link-pages.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { noticePage } from '../../views/message-pages.ts';

const { email: validEmail } = contract.users.create.body.shape;
const emailForm = z.object({ email: z.string().catch('') });

/** Handles `GET /account/email`. */
export const showEmailChangeForm = (request: AccountRequest): void => renderForm(request, '', []);

/** Handles `POST /account/email`: sends a confirmation link to the new address. */
export async function submitEmailChangeRequest(request: AccountRequest): Promise<void> {
  const { context, req, res, account } = request;
  const { messages } = context.settings;
  const { email } = emailForm.parse(req.body ?? {});
  const showError = (text: string) => renderForm(request, email, [{ field: 'email', text }]);
  const address = validEmail.safeParse(email);
  if (!address.success) return showError(messages.signUp.emailInvalid);
  if (address.data === account.email && account.email_verified) return showError(messages.changeEmail.same);
  if (!context.canMail)
    return sendPage(context, res, noticePage(context.settings, messages.noMail.title, messages.noMail.text), { status: 503 });
  await context.limits.countAttempt('mail', address.data.toLowerCase(), { address: req.ip });
  await sendLink(request, address.data);
  return sendPage(context, res, emailSentPage(context.settings, address.data, '/account/email'));
}

/** Shows the form again after a submission without a valid CSRF token. */
export function showEmailChangeOnCsrfError(request: AccountRequest): void {
  const { email } = emailForm.parse(request.req.body ?? {});
  renderForm(request, email, [{ field: 'email', text: request.context.settings.messages.stale }]);
}

/**
 * Sends the confirmation link. If the address belongs to another account, only the e-mail message reveals this fact; the response is the
 * same.
 */
async function sendLink(request: AccountRequest, email: string): Promise<void> {
  const { context, account, now } = request;
  const { em, keys, provider } = context;
  const settings = localizePageSettingsForEmailToUser(context.settings, account.locale);
  const userId = account.id;
  const { mail } = settings.messages;
  const shop = settings.shop.name;
  await em.transactional(async (inner) => {
    await lockAccountAndRequireActiveSession(inner, request); // a password reset deletes links, so older sessions must not add links afterwards
    const otherOwner = { ...buildEmailEqualsFilter(email), status: { $ne: 'closed' as const }, id: { $ne: userId } };
    const isTaken = (await inner.count(User, otherOwner)) > 0;
    const token = await storeEmailedLinkAndReturnToken(inner, { purpose: 'email_change', email, userId }, now);
    const content = isTaken
      ? { subject: mail.addressTakenSubject({ shop }), text: mail.addressTaken({ shop }), advice: mail.addressTakenAdvice }
      : {
          subject: mail.newAddressSubject({ shop }),
          text: mail.newAddress({ shop }),
          button: { url: `${provider.issuer}${emailConfirmationPath}?token=${token}`, label: 'confirmAddress' as const },
          ignore: true,
        };
    await queueMail(inner, keys.mail, renderEmail(email, settings, content), now);
  });
}

const readLinkToken = (req: Request): string => z.string().max(200).catch('').parse(req.query['token']);

/** Handles `GET /account/email/confirm`, the target of the link in the message. */
export const showEmailConfirmationForm = (context: PageContext) => async (req: Request, res: Response) => {
  const link = await readEmailedLinkWithoutConsuming(context.em, 'email_change', readLinkToken(req), new Date());
  if (!link) return sendLinkExpired(context, res);
  return sendPage(context, res, confirmEmailChangePage(context.settings, { csrf: context.forms.issue(req, res), email: link.email }));
};

/** Handles `POST /account/email/confirm`: verifies or changes the address. */
export const submitEmailConfirmation = (context: PageContext) => async (req: Request, res: Response) => {
  const confirmed = await confirmAddress(context, req).catch((error: unknown) => {
    if (!(error instanceof Problem && error.code === 'email_taken')) throw error;
  });
  if (!confirmed) return sendLinkExpired(context, res);
  const { changeEmail: messages } = context.settings.messages;
  const { email, how } = confirmed;
  const page =
    how === 'changed'
      ? renderAccountSuccessPage(context.settings, messages.doneTitle, messages.done({ email }))
      : renderAccountSuccessPage(context.settings, messages.confirmedTitle, messages.confirmed);
  return sendPage(context, res, page);
};

type ConfirmedAddress = { readonly email: string; readonly how: 'changed' | 'verified' };

/**
 * Consumes the link, and verifies the current address or replaces it with the new address. Returns undefined if the link is no longer
 * valid.
 */
async function confirmAddress(context: PageContext, req: Request): Promise<ConfirmedAddress | undefined> {
  const now = new Date();
  const source = getClientAddressAndUserAgent(req);
  return context.em.transactional(async (em) => {
    const link = await lockUserAndConsumeEmailedLink(em, 'email_change', readLinkToken(req), now);
    const user =
      link?.userId == null ? null : await em.findOne(User, { id: link.userId, status: 'active' }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!link || !user) return undefined;
    const { email } = link;
    if (email === user.email) {
      await markEmailVerifiedAndAudit(em, user, source, now);
      await deleteEmailedLinksOfUser(em, user.id);
      return { email, how: 'verified' };
    }
    await changeEmailAddressNotifyAndAudit(
      em,
      deleteLinksAndMailOldAndNewAddress(context, req),
      user,
      { email, isVerified: true, actorId: user.id, source },
      now,
    );
    await recordEvent(em, 'user.updated', userFromEntity(user), user.id);
    return { email, how: 'changed' };
  });
}

const sendLinkExpired = (context: PageContext, res: Response): void =>
  sendPage(context, res, linkExpiredPage(context.settings, '/account/email'), { status: 400 });

function renderForm({ context, req, res, account }: AccountRequest, typed: string, faults: readonly FieldError[]): void {
  const html = changeEmailPage(context.settings, { csrf: context.forms.issue(req, res), account, typed, faults });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}
