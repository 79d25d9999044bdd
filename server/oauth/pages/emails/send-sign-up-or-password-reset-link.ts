import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../../../database/entity-manager/entity-manager-type.ts';
import { queueMail } from '../../../mail/queue-mail.ts';
import { buildEmailEqualsFilter } from '../../../users/build-email-equals-filter.ts';
import { User } from '../../../users/user.entity.ts';
import { emailConfirmationPath } from './delete-links-and-notify-on-email-change.ts';
import { storeEmailedLinkAndReturnToken } from '../../accounts/emailed-one-time-links.ts';
import { renderEmail } from './render-email.ts';
import type { PageContext } from '../routing/page-context.ts';
import { localizePageSettingsForEmailToUser } from '../views/select-and-store-page-language.ts';
import type { PageSettings } from '../views/page-layout-and-form-fields.ts';

type RequestedPurpose = 'sign_up' | 'password_reset';

/**
 * Sends a link by e-mail. If no account exists, the link leads to sign-up. If an account exists, the link leads to the password reset, or
 * to address confirmation if a confirmation is pending. The steps are the same in every case, so that only the e-mail reveals which case
 * applies. The response and its timing reveal nothing.
 * @param basePath base path of the sign-up pages: `/sign-in/<uid>` if an application requested the sign-in, otherwise empty
 */
export async function sendSignUpOrPasswordResetLink(
  context: PageContext,
  requestedPurpose: RequestedPurpose,
  email: string,
  basePath: string,
  now: Date,
): Promise<void> {
  const { keys, provider } = context;
  await context.em.transactional(async (em: EntityManager) => {
    const where = { ...buildEmailEqualsFilter(email), status: { $ne: 'closed' as const } };
    // Locks the user. Without this lock, a concurrent address change, which deletes all links, could miss this link, and the link would be
    // sent to the old address.
    const owner = await em.findOne(User, where, { lockMode: LockMode.PESSIMISTIC_READ, disableIdentityMap: true });
    const settings = localizePageSettingsForEmailToUser(context.settings, owner?.locale);
    const purpose = selectPurpose(owner);
    const token = await storeEmailedLinkAndReturnToken(em, { purpose, email: owner?.email ?? email, userId: owner?.id ?? null }, now);
    const path = { sign_up: `${basePath}/sign-up/confirm`, password_reset: '/password-reset/confirm', email_change: emailConfirmationPath }[
      purpose
    ];
    const button = { url: `${provider.issuer}${path}?token=${token}`, label: buttonLabels[purpose] };
    const content = messageFor(settings, requestedPurpose, purpose);
    // The link is sent to the address stored in the account, because a different spelling may be a different mailbox.
    await queueMail(em, keys.mail, renderEmail(owner?.email ?? email, settings, { ...content, button, ignore: true }), now);
  });
}

const buttonLabels = { sign_up: 'createAccount', password_reset: 'choosePassword', email_change: 'confirmAddress' } as const;

function selectPurpose(owner: User | null): keyof typeof buttonLabels {
  if (!owner) return 'sign_up';
  return owner.emailVerification === 'confirmation_required' ? 'email_change' : 'password_reset';
}

function messageFor(
  { shop: { name: shop }, messages: { mail } }: PageSettings,
  requestedPurpose: RequestedPurpose,
  purpose: keyof typeof buttonLabels,
): { subject: string; text: string } {
  if (purpose === 'email_change') return { subject: mail.confirmAddressSubject({ shop }), text: mail.confirmAddressFirst({ shop }) };
  const hasAccount = purpose === 'password_reset';
  if (requestedPurpose === 'password_reset') {
    return hasAccount
      ? { subject: mail.resetSubject({ shop }), text: mail.reset({ shop }) }
      : { subject: mail.noAccountSubject({ shop }), text: mail.noAccount({ shop }) };
  }
  return hasAccount
    ? { subject: mail.haveAccountSubject({ shop }), text: mail.haveAccount({ shop }) }
    : { subject: mail.signUpSubject({ shop }), text: mail.signUp({ shop }) };
}
