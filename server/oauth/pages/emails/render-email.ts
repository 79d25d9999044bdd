import type { Mail } from '../../../mail/queue-mail.ts';
import { html } from '../../../http/response/html-template.ts';
import type { PageSettings } from '../views/page-layout-and-form-fields.ts';

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
  { shop, messages }: PageSettings,
  { subject, text, link, ignore = false, lists = [] }: Content,
): Mail {
  const { greeting, ignore: ignoreText } = messages.mail;
  const listTexts = lists.map(({ title, items }) => [title, ...items.map((item) => `- ${item}`)].join('\n'));
  const lines = [greeting, text, ...(link === undefined ? [] : [link]), ...listTexts, ...(ignore ? [ignoreText] : []), shop.name];
  const htmlDocument = html`<!doctype html>
    <html lang="${messages.language}" dir="${messages.direction}">
      <head>
        <meta charset="utf-8" />
        <title>${subject}</title>
      </head>
      <body>
        <p>${greeting}</p>
        <p>${text}</p>
        ${link !== undefined && html`<p><a href="${link}">${link}</a></p>`}${lists.map(
          ({ title, items }) =>
            html`<p>${title}</p>
              <ul>
                ${items.map((item) => html`<li>${item}</li>`)}
              </ul>`,
        )}${ignore && html`<p>${ignoreText}</p>`}
        <p>${shop.name}</p>
      </body>
    </html>`;
  return { to, subject, text: `${lines.join('\n\n')}\n`, html: htmlDocument.toString() };
}
