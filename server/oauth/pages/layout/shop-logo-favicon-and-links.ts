import type { ShopBranding } from '../../../branding/default-branding.ts';
import { getLogoPath } from '../../../logos/logo-path.ts';
import { html, type Html } from '../../../http/response/html-template.ts';
import type { Messages } from '../../../languages/languages.ts';

/** Renders the logo, or the first letter of the shop name if there is no logo. */
export const renderShopLogoOrFirstLetter = ({ name, logo }: ShopBranding): Html =>
  logo
    ? html`<img class="shop-logo" src="${getLogoPath(logo)}" alt="" width="${logo.width}" height="${logo.height}" />`
    : html`<span class="mark" aria-hidden="true">${getUppercaseInitial(name)}</span>`;

/** Returns the path of the icon that browsers show in their tabs: the logo or, without a logo, the default icon. */
export const getFaviconPath = ({ logo }: ShopBranding): string => (logo ? getLogoPath(logo) : '/favicon.ico');

export const getUppercaseInitial = (name: string): string => Array.from(name)[0]?.toUpperCase() ?? '';

/** Renders the links to the shop's help, terms and privacy pages, if the shop has any. */
export function renderShopLinks(shop: ShopBranding, { shopLinks: messages }: Messages): Html | undefined {
  const links = listShopLinks(shop, messages);
  if (links.length === 0) return undefined;
  return html`<footer>
    <nav aria-label="${messages.title}">
      <ul class="shop-links">
        ${links.map(({ url, text }) => html`<li><a href="${url}">${text}</a></li>`)}
      </ul>
    </nav>
  </footer>`;
}

/** Returns the links that the shop has configured, in the order in which pages and e-mails show them. */
export const listShopLinks = (shop: ShopBranding, texts: Messages['shopLinks']): { readonly url: string; readonly text: string }[] =>
  [
    { url: shop.help_url, text: texts.help },
    { url: shop.terms_url, text: texts.terms },
    { url: shop.privacy_url, text: texts.privacy },
  ].flatMap(({ url, text }) => (url === null || url === undefined ? [] : [{ url, text }]));
