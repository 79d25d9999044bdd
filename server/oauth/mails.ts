import type { Mail } from '../mail/mail.ts';
import { html } from './pages/html.ts';
import type { Setting } from './pages/page.ts';

type Content = { readonly subject: string; readonly text: string; readonly link?: string | undefined; readonly ignore?: boolean };

/** A message in plain text, and the same for mail programs that show pages. */
export function mailTo(to: string, { shop, words }: Setting, { subject, text, link, ignore = false }: Content): Mail {
  const { greeting, ignore: nothing } = words.mail;
  const lines = [greeting, text, ...(link === undefined ? [] : [link]), ...(ignore ? [nothing] : []), shop.name];
  const page = html`<!doctype html>
    <html lang="${words.language}" dir="${words.direction}">
      <head>
        <meta charset="utf-8" />
        <title>${subject}</title>
      </head>
      <body>
        <p>${greeting}</p>
        <p>${text}</p>
        ${link !== undefined && html`<p><a href="${link}">${link}</a></p>`}${ignore && html`<p>${nothing}</p>`}
        <p>${shop.name}</p>
      </body>
    </html>`;
  return { to, subject, text: `${lines.join('\n\n')}\n`, html: page.toString() };
}
