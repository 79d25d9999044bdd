import type { Mail } from '../../../mail/queue-mail.ts';
import { renderBrandedEmail } from '../../../branding/render-branded-email.ts';
import type { PageSettings } from '../views/page-layout-and-form-fields.ts';
import { listShopLinks } from '../layout/shop-logo-favicon-and-links.ts';

type Content = {
  readonly subject: string;
  readonly text: string;
  readonly link?: string | undefined;
  readonly ignore?: boolean;
  /** Lists below the text. User-chosen names must be sanitized with `sanitizeNameForEmail`. */
  readonly lists?: readonly EmailList[];
};

export type EmailList = { readonly title: string; readonly items: readonly string[] };

/** Replaces the characters of a user-chosen name that mail programs turn into links, because an intruder may have chosen the name. */
export const sanitizeNameForEmail = (name: string): string => name.replaceAll(/[^\p{L}\p{M}\p{N} _()'-]/gu, '_');

/** Renders a message as plain text and as HTML. */
export function renderEmail(
  to: string,
  { shop, issuer, messages }: PageSettings,
  { subject, text, link, ignore = false, lists = [] }: Content,
): Mail {
  const { greeting, ignore: ignoreText } = messages.mail;
  return renderBrandedEmail(to, shop, issuer, {
    language: messages.language.tag,
    direction: messages.language.direction === 'rtl' ? 'rtl' : 'ltr',
    subject,
    paragraphs: [greeting, text],
    action: link === undefined ? undefined : { url: link, label: messages.mail.button, hint: messages.mail.linkHint },
    lists,
    notes: ignore ? [ignoreText] : [],
    shopLinks: listShopLinks(shop, messages.shopLinks),
  });
}
