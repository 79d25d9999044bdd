import type { Messages } from '../../../languages/languages.ts';
import type { Mail } from '../../../mail/queue-mail.ts';
import { renderBrandedEmail } from '../../../branding/render-branded-email.ts';
import type { PageSettings } from '../views/page-layout-and-form-fields.ts';
import { listShopLinks } from '../layout/shop-logo-favicon-and-links.ts';

type Content = {
  readonly subject: string;
  readonly text: string;
  /** A code that the user must enter (shown below `text`), and the note below the code. */
  readonly code?: { readonly value: string; readonly note: string };
  /** Lists below the text. User-chosen names must be sanitized with `sanitizeNameForEmail`. */
  readonly lists?: readonly EmailList[];
  /** Advice for the recipient, shown between the lists and the button. */
  readonly advice?: string;
  readonly button?: EmailButton | undefined;
  readonly ignore?: boolean;
};

export type EmailButton = { readonly url: string; readonly label: keyof Messages['mail']['buttons'] };

/** Returns the button that leads to the shop's help page, if the shop has one. */
export const createHelpButton = ({ shop }: PageSettings): EmailButton | undefined =>
  shop.help_url == null ? undefined : { url: shop.help_url, label: 'getHelp' };

export type EmailList = { readonly title: string; readonly items: readonly string[] };

/**
 * Replaces characters in a user-chosen name, so that mail programs do not turn the name into a link. An intruder may have chosen the name.
 */
export const sanitizeNameForEmail = (name: string): string => name.replaceAll(/[^\p{L}\p{M}\p{N} _()'-]/gu, '_');

/** Renders a message as plain text and as HTML. */
export function renderEmail(
  to: string,
  { shop, issuer, messages }: PageSettings,
  { subject, text, code, lists = [], advice, button, ignore = false }: Content,
): Mail {
  const { greeting, ignore: ignoreText } = messages.mail;
  return renderBrandedEmail(to, shop, issuer, {
    language: messages.language.tag,
    direction: messages.language.direction === 'rtl' ? 'rtl' : 'ltr',
    subject,
    paragraphs: code === undefined ? [greeting, text] : [greeting, text, { code: code.value }, code.note],
    advice,
    action: button && { url: button.url, label: messages.mail.buttons[button.label], hint: messages.mail.linkHint },
    lists,
    notes: ignore ? [ignoreText] : [],
    shopLinks: listShopLinks(shop, messages.shopLinks),
  });
}
