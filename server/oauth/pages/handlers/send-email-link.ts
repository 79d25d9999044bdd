import type { Em } from '../../../database/entity-manager/entity-manager.ts';
import { statement } from '../../../database/queries/prepared-statement.ts';
import { queueMail } from '../../../mail/mail.ts';
import type { User } from '../../../users/user.entity.ts';
import { confirmationPath } from './notify-email-change.ts';
import { type LinkPurpose, newLinkToken } from '../../accounts/email-links.ts';
import { mailTo } from '../emails/render-email.ts';
import type { PageContext } from '../routing/page-context.ts';
import type { Setting } from '../views/page-layout.ts';

type Owner = { id: number; email: string; email_verification: User['emailVerification'] };

// Locked, so that an address that is being changed gets no link after the change has invalidated them all.
const findOwner = statement<Owner>(
  'owner_of_address',
  `select id, email, email_verification from users where lower(email) = lower($1) and status <> 'closed' for share`,
);

type Wanted = 'sign_up' | 'password_reset';

/**
 * Sends a link to an address: to open an account where there is none, to choose a password where there is one, to confirm the address
 * first where somebody else changed it. The same is done in every case, so neither the answer nor its time tells which it was; only
 * who reads the message learns it.
 * @param below where the pages of this sign-in are: `/sign-in/…` when an application asked for it
 */
export async function requestLink(context: PageContext, wanted: Wanted, email: string, below: string, now: Date): Promise<void> {
  const { setting, keys, provider } = context;
  await context.em.transactional(async (em: Em) => {
    const [owner] = await findOwner(em, [email]);
    const purpose = purposeFor(owner);
    const token = await newLinkToken(em, { purpose, email: owner?.email ?? email, userId: owner?.id ?? null }, now);
    const path = { sign_up: `${below}/sign-up/confirm`, password_reset: '/password-reset/confirm', email_change: confirmationPath }[
      purpose
    ];
    const link = `${provider.issuer}${path}?token=${token}`;
    const content = contentFor(setting, wanted, purpose);
    // to the address as it was typed when it opened the account: another spelling may reach another mailbox
    await queueMail(em, keys.mail, mailTo(owner?.email ?? email, setting, { ...content, link, ignore: true }), now);
  });
}

function purposeFor(owner: Owner | undefined): LinkPurpose {
  if (!owner) return 'sign_up';
  return owner.email_verification === 'confirmation_required' ? 'email_change' : 'password_reset';
}

function contentFor(
  { shop: { name: shop }, words: { mail } }: Setting,
  wanted: Wanted,
  purpose: LinkPurpose,
): { subject: string; text: string } {
  if (purpose === 'email_change') return { subject: mail.confirmAddressSubject(shop), text: mail.confirmAddressFirst(shop) };
  const hasAccount = purpose === 'password_reset';
  if (wanted === 'password_reset') {
    return hasAccount
      ? { subject: mail.resetSubject(shop), text: mail.reset(shop) }
      : { subject: mail.noAccountSubject(shop), text: mail.noAccount(shop) };
  }
  return hasAccount
    ? { subject: mail.haveAccountSubject(shop), text: mail.haveAccount(shop) }
    : { subject: mail.signUpSubject(shop), text: mail.signUp(shop) };
}
