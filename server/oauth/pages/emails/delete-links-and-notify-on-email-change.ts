import type { Request } from 'express';
import type { OnEmailAddressChange } from '../../../http/routing/handler-dependencies.ts';
import { queueMail } from '../../../mail/queue-mail.ts';
import { deleteEmailedLinksOfUserAndAddresses, storeEmailedLinkAndReturnToken } from '../../accounts/emailed-one-time-links.ts';
import { describeChangeTimeAndSource } from './describe-change-time-and-source.ts';
import { createHelpButton, renderEmail } from './render-email.ts';
import type { PageContext } from '../routing/page-context.ts';
import { localizePageSettingsForEmailToOtherUser } from '../views/select-and-store-page-language.ts';

/** Path of the page on which users confirm an e-mail address. */
export const emailConfirmationPath = '/account/email/confirm';

/**
 * Returns whether the address can receive e-mail. Accounts without an e-mail address have a placeholder address that ends in `.invalid`
 * (RFC 2606).
 */
const isReachable = (email: string): boolean => !email.endsWith('.invalid');

/**
 * Deletes the links of an account whose e-mail address changes, and notifies the old and the new address. If the new address is not
 * verified yet, the message to the new address contains a confirmation link.
 * @param req the request with which the user changed the address; undefined if the shop or an application changed the address
 */
export const deleteLinksAndMailOldAndNewAddress =
  (context: Pick<PageContext, 'settings' | 'keys' | 'provider' | 'canMail'>, req?: Pick<Request, 'headers' | 'ip'>): OnEmailAddressChange =>
  async (em, change, now) => {
    const { keys, provider, canMail } = context;
    const { userId, from, to, isVerified, locale } = change;
    await deleteEmailedLinksOfUserAndAddresses(em, change);
    if (!canMail) return;
    await context.settings.refreshBranding();
    const settings = localizePageSettingsForEmailToOtherUser(context.settings, locale);
    const { mail } = settings.messages;
    const shop = settings.shop.name;
    const text = isVerified ? mail.addressChanged({ shop, email: to }) : mail.addressChangedByOther({ shop, email: to });
    const changed = {
      subject: mail.addressChangedSubject({ shop }),
      text,
      lists: [describeChangeTimeAndSource(settings, now, req)],
      advice: mail.addressAdvice,
      button: createHelpButton(settings),
    };
    if (isReachable(from)) await queueMail(em, keys.mail, renderEmail(from, settings, changed), now);
    if (!isReachable(to)) return;
    if (isVerified) return queueMail(em, keys.mail, renderEmail(to, settings, changed), now);
    const token = await storeEmailedLinkAndReturnToken(em, { purpose: 'email_change', email: to, userId }, now);
    const button = { url: `${provider.issuer}${emailConfirmationPath}?token=${token}`, label: 'confirmAddress' } as const;
    const confirm = { subject: mail.confirmAddressSubject({ shop }), text: mail.confirmNewAddress({ shop }), button, ignore: true };
    await queueMail(em, keys.mail, renderEmail(to, settings, confirm), now);
  };
