import type { Branding } from '@mandate/contract';
import { html, type Html } from '../http/response/html-template.ts';
import { preventBreakAfterHyphenInEmailWord } from '../http/response/prevent-break-after-hyphen-in-email-word.ts';
import { getLogoPath } from '../logos/logo-path.ts';
import type { Mail } from '../mail/queue-mail.ts';
import type { ShopBranding } from './default-branding.ts';
import { calculateEmailButtonColors, calculateThemeColors } from './theme-colors.ts';

export type EmailContent = {
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  readonly subject: string;
  /** Each paragraph is either text or a code for the user to enter. */
  readonly paragraphs: readonly (string | { readonly code: string })[];
  /** Lists that are shown below the paragraphs. */
  readonly lists?: readonly { readonly title: string; readonly items: readonly string[] }[];
  /** Advice to the reader, shown below the lists. */
  readonly advice?: string | undefined;
  /** The button below the advice. `hint` precedes the URL, for users whose mail program does not show the button. */
  readonly action?: { readonly url: string; readonly label: string; readonly hint: string } | undefined;
  /** Paragraphs in small print at the end of the e-mail. */
  readonly notes?: readonly string[];
  /** Links to the shop's pages, such as its help page. */
  readonly shopLinks?: readonly { readonly url: string; readonly text: string }[];
};

/** Renders an e-mail with the branding, as plain text and as HTML. Every e-mail uses this layout. */
export function renderBrandedEmail(to: string, shop: ShopBranding, issuer: string, content: EmailContent): Mail {
  return {
    to,
    subject: content.subject,
    text: renderText(shop, content),
    html: preventBreakAfterHyphenInEmailWord(renderHtml(shop, issuer, content), html`style="white-space: nowrap"`).toString(),
    ...(shop.email_sender_name !== null && { senderName: shop.email_sender_name }),
  };
}

function renderText(shop: ShopBranding, { paragraphs, lists = [], advice, action, notes = [], shopLinks = [] }: EmailContent): string {
  const blocks = [
    ...paragraphs.map((paragraph) => (typeof paragraph === 'string' ? paragraph : paragraph.code)),
    ...lists.map(({ title, items }) => [title, ...items.map((item) => `- ${item}`)].join('\n')),
    ...(advice === undefined ? [] : [advice]),
    ...(action ? [action.url] : []),
    ...notes,
    shop.name,
    ...(shop.email_footer === null ? [] : [shop.email_footer]),
    ...(shopLinks.length > 0 ? [shopLinks.map(({ url, text }) => `${text}: ${url}`).join('\n')] : []),
  ];
  return `${blocks.join('\n\n')}\n`;
}

const font = `font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif`;
const text = `margin: 0 0 16px; font-size: 16px; line-height: 24px`;
const smallText = `margin: 0 0 8px; font-size: 13px; line-height: 20px`;

/** Colors for dark mode. Mail programs without support for style sheets show the light colors of the inline styles. */
const darkModeStyles = ({ button, button_text: buttonText, link }: Branding['colors']['dark']): string =>
  `:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .ground { background: #111216 !important; }
  .card { background: #1a1b21 !important; border-color: #2e3038 !important; }
  .text { color: #f0f0f3 !important; }
  .quiet { color: #adb0bd !important; }
  .link { color: ${link} !important; }
  .button { background: ${button} !important; border-color: ${button} !important; color: ${buttonText} !important; }
}`;

function renderHtml(shop: ShopBranding, issuer: string, content: EmailContent): Html {
  const { light, dark } = calculateThemeColors(shop.accent_color);
  const { language, direction, subject, paragraphs, lists = [], advice, action, notes = [] } = content;
  return html`<!doctype html>
    <html lang="${language}" dir="${direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>${subject}</title>
        <style>
          ${darkModeStyles(dark)}
        </style>
      </head>
      <body class="ground" style="margin: 0; padding: 0; background: #f7f7f8">
        <div role="main">
          <table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background: #f7f7f8; ${font}">
            <tr>
              <td align="center" style="padding: 24px 12px">
                <table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width: 560px; text-align: start">
                  <tr>
                    <td class="text" style="padding: 0 8px 16px; font-size: 18px; font-weight: 600; color: #1a1b1f">
                      ${shopHeader(shop, issuer)}
                    </td>
                  </tr>
                  <tr>
                    <td
                      class="card text"
                      style="padding: 24px; border: 1px solid #e2e3e8; border-radius: 12px; background: #ffffff; color: #1a1b1f; overflow-wrap: anywhere"
                    >
                      <h1 style="margin: 0 0 16px; font-size: 22px; line-height: 28px; text-wrap: balance">${subject}</h1>
                      ${paragraphs.map(renderParagraph)}${lists.map(renderList)}${advice !== undefined && renderParagraph(advice)}
                      ${action && actionButton(action, shop.accent_color)}
                      ${notes.map((note) => html`<p class="quiet" style="${smallText}; color: #565a66">${note}</p>`)}
                    </td>
                  </tr>
                  <tr>
                    <td class="quiet" style="padding: 16px 8px; color: #565a66; font-size: 13px; line-height: 20px">
                      ${shopFooter(shop, content, light.link)}
                    </td>
                  </tr>
                </table>
              </td>
            </tr>
          </table>
        </div>
      </body>
    </html>`;
}

const renderParagraph = (paragraph: EmailContent['paragraphs'][number]): Html =>
  typeof paragraph === 'string'
    ? html`<p style="${text}">${paragraph}</p>`
    : html`<p style="margin: 24px 0; font: 600 28px/36px ui-monospace, Menlo, Consolas, monospace; letter-spacing: 2px">
        ${paragraph.code}
      </p>`;

/** Height of the logo in pixels. Outlook ignores CSS sizes, so the image has `width` and `height` attributes. */
const logoHeight = 40;

function shopHeader({ name, logo }: ShopBranding, issuer: string): Html {
  if (!logo) return html`${name}`;
  const width = Math.round((logo.width / logo.height) * logoHeight);
  const style = `display: block; max-width: 100%; height: auto; margin-bottom: 8px; border: 0`;
  return html`<img src="${issuer}${getLogoPath(logo)}" alt="" width="${width}" height="${logoHeight}" style="${style}" />${name}`;
}

function actionButton({ url, label, hint }: NonNullable<EmailContent['action']>, accent: string): Html {
  const { background, text: color, border } = calculateEmailButtonColors(accent);
  const { link } = calculateThemeColors(accent).light;
  const style = `display: inline-block; padding: 12px 24px; border: 1px solid ${border}; border-radius: 8px; font-size: 16px; font-weight: 600; text-align: center; text-decoration: none; text-wrap: balance`;
  return html`<p style="margin: 24px 0">
      <a class="button" href="${url}" style="${style}; background: ${background}; color: ${color}">${label}</a>
    </p>
    <p class="quiet" style="${smallText}; color: #565a66">
      ${hint}<br /><a class="link" href="${url}" style="color: ${link}; word-break: break-all">${url}</a>
    </p>`;
}

const renderList = ({ title, items }: NonNullable<EmailContent['lists']>[number]): Html =>
  html`<p style="margin: 16px 0 4px; font-size: 16px; line-height: 24px; font-weight: 600">${title}</p>
    <ul style="margin: 0 0 16px; padding: 0 0 0 24px; font-size: 16px; line-height: 24px">
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>`;

function shopFooter({ name, email_footer: footer }: ShopBranding, { shopLinks = [] }: EmailContent, linkColor: string): Html {
  const lines = footer === null ? [] : footer.split('\n');
  const links = shopLinks.map(
    ({ url, text: label }, index) => html`${index > 0 && ' · '}<a class="link" href="${url}" style="color: ${linkColor}">${label}</a>`,
  );
  return html`<strong>${name}</strong>${lines.map((line) => html`<br />${line}`)}${links.length > 0 && html`<br />${links}`}`;
}
