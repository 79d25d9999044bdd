import { formatAddressLines } from '@mandate/contract/addresses';
import { User } from '../../../users/user.entity.ts';
import type { ApprovalWithQuote } from '../../../approvals/approval-from-entity.ts';
import type { EntityManager } from '../../../database/entity-manager/entity-manager-type.ts';
import { queueMail } from '../../../mail/queue-mail.ts';
import type { PageContext } from '../routing/page-context.ts';
import { describeApprovalReason, describeQuotedLinesAndTotals } from '../views/account/describe-approval.ts';
import { formatMoney, formatTimestamp } from '../views/format-time-and-money.ts';
import { localizePageSettingsForEmailToOtherUser } from '../views/select-and-store-page-language.ts';
import { renderEmail, sanitizeNameForEmail } from './render-email.ts';

/**
 * Returns the function that sends a customer an e-mail about an approval request. The link only opens the page where the customer decides.
 * An application chooses its own name and the message, so this function replaces characters that make mail programs create links.
 */
export const createApprovalRequestMailer =
  (context: Pick<PageContext, 'settings' | 'keys' | 'provider' | 'canMail'>) =>
  async (em: EntityManager, requested: ApprovalWithQuote, now: Date): Promise<void> => {
    const { keys, provider, canMail } = context;
    if (!canMail) return;
    const { approval, quote } = requested;
    const user = await em.findOne(User, { id: approval.user }, { fields: ['email', 'locale'], disableIdentityMap: true });
    if (!user || user.email.endsWith('.invalid')) return;
    await context.settings.refreshBranding();
    const settings = localizePageSettingsForEmailToOtherUser(context.settings, user.locale);
    const { mail, approvals, language } = settings.messages;
    const application = sanitizeNameForEmail(requested.applicationName);
    const named = { ...requested, applicationName: application };
    const shop = settings.shop.name;
    const address = formatAddressLines(quote.delivery, language.tag).join(', ');
    const lines = [...describeQuotedLinesAndTotals(settings, named), approvals.deliveredTo({ address })].map(neutralizeLinks);
    const message = approval.message == null ? [] : approval.message.split('\n').map(neutralizeLinks);
    const email = renderEmail(user.email, settings, {
      subject: mail.approvalSubject({ application, shop }),
      text: mail.approval({
        application,
        shop,
        amount: formatMoney(settings, quote.total, quote.currency),
        reason: describeApprovalReason(settings, named),
      }),
      advice: mail.approvalAdvice({ when: formatTimestamp(settings, approval.expiresAt) }),
      button: { url: `${provider.issuer}/account/approvals/${approval.id}`, label: 'viewApprovalRequest' },
      lists: [
        { title: approvals.items, items: lines },
        ...(message.length > 0 ? [{ title: approvals.message({ application }), items: message }] : []),
      ],
    });
    await queueMail(em, keys.mail, email, now);
  };

/** Replaces the characters that make mail programs turn text into a link: `://`, `@` and a dot between letters. */
const neutralizeLinks = (text: string): string =>
  text
    .replaceAll('://', ':_')
    .replaceAll(/(\p{L})\.(?=\p{L})/gu, '$1_')
    .replaceAll('@', '_');
