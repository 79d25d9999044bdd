import { html, Html, type HtmlChild } from '../../../http/response/html-template.ts';
import { preventBreakAfterHyphenInEmailWord } from '../../../http/response/prevent-break-after-hyphen-in-email-word.ts';
import type { ShopBranding } from '../../../branding/default-branding.ts';
import type { Languages, Messages } from '../../../languages/languages.ts';
import { renderLanguageSwitch, type LanguageSwitch } from '../layout/language-switch.ts';
import { getFaviconPath, renderShopLinks, renderShopLogoOrFirstLetter } from '../layout/shop-logo-favicon-and-links.ts';

/** Settings used to render every page. */
export type PageSettings = {
  readonly shop: ShopBranding;
  /** Reads the current branding. Called in every page request before the page is rendered. */
  readonly refreshBranding: () => Promise<void>;
  readonly messages: Messages;
  readonly languages: Languages;
  /** Name of the cookie that stores the language chosen in this browser. */
  readonly languageCookie: string;
  /** Name of the cookie in which the page script stores the browser's time zone. */
  readonly timeZoneCookie: string;
  /** The browser's IANA time zone; undefined in e-mails, and if the time zone is unknown. */
  readonly timeZone?: string | undefined;
  /** The language switch; undefined on pages that are not rendered for a request. */
  readonly languageSwitch?: LanguageSwitch | undefined;
  readonly stylesheetPathFromAccentColor: string;
  /** Path of the page script; undefined for pages without the script. */
  readonly scriptPath: string | undefined;
  /** Whether the page uses the full width of a desktop screen; set for pages that contain a list (default: false). */
  readonly isWide?: boolean;
  readonly base: string;
  /** Public URL of the server, for links in e-mails. */
  readonly issuer: string;
};

export type FieldError = { readonly field: string; readonly text: string };

/**
 * Renders a complete HTML document.
 * @param backLink link above the error summary and the content
 */
export const renderPage = (
  settings: PageSettings,
  title: string,
  content: HtmlChild,
  faults: readonly FieldError[] = [],
  backLink?: Html,
): Html =>
  prefixPathsWithBasePath(
    settings.base,
    preventBreakAfterHyphenInEmailWord(renderDocument(settings, title, content, faults, backLink), html`class="unbroken"`),
  );

/** Adds the server's base path to links and forms. User input never matches the pattern, because quotes in user input are escaped. */
export const prefixPathsWithBasePath = (base: string, document: Html): Html =>
  base === '' ? document : new Html(document.toString().replaceAll(/ (href|action|src)="\//g, ` $1="${base}/`));

const renderDocument = (
  { shop, messages, stylesheetPathFromAccentColor, scriptPath, timeZoneCookie, languageSwitch, isWide = false }: PageSettings,
  title: string,
  content: HtmlChild,
  faults: readonly FieldError[],
  backLink: Html | undefined,
): Html =>
  html`<!doctype html>
    <html lang="${messages.language.tag}" dir="${messages.language.direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${faults.length > 0 && `${messages.error}: `}${title} - ${shop.name}</title>
        <link rel="icon" href="${getFaviconPath(shop)}" />
        <link rel="stylesheet" href="${stylesheetPathFromAccentColor}" />
        ${scriptPath !== undefined && html`<script type="module" src="${scriptPath}" data-time-zone-cookie="${timeZoneCookie}"></script>`}
      </head>
      <body ${isWide && html`class="wide"`}>
        <header>${renderShopLogoOrFirstLetter(shop)}${shop.name}</header>
        <main>${backLink}${faults.length > 0 && errorSummary(messages, faults)}${content}</main>
        ${languageSwitch && renderLanguageSwitch(messages, languageSwitch)} ${renderShopLinks(shop, messages)}
      </body>
    </html>`;

const errorSummary = (messages: Messages, faults: readonly FieldError[]): Html =>
  html`<div class="summary" role="alert" tabindex="-1" autofocus>
    <h2>${messages.problemSummary}</h2>
    <ul>
      ${faults.map((fault) => html`<li><a href="#${fault.field}">${fault.text}</a></li>`)}
    </ul>
  </div>`;

/** Emphasizes a value, such as an e-mail address, in a message that contains it. */
export function emphasizeValue(message: string, value: string): Html {
  const at = message.indexOf(value);
  return at < 0
    ? html`${message}`
    : html`${message.slice(0, at)}<strong class="address">${allowAddressBreaks(value)}</strong>${message.slice(at + value.length)}`;
}

/**
 * Lets browsers break an e-mail address after the `@` and before a dot of the domain. Otherwise, browsers would break it before any letter.
 */
const allowAddressBreaks = (address: string): HtmlChild =>
  address.split(/(?<=@)|(?<=@.*)(?=\.)/).map((part, index) => html`${index > 0 && html`<wbr />`}${part}`);

/** Renders a link, styled as a button, to the next step. `kind` states whether the link is the page's main action. */
export const linkButton = (path: string, text: string, kind: 'main' | 'second' = 'main'): Html =>
  html`<p class="next"><a class="button ${kind}" href="${path}">${text}</a></p>`;

type Field = {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password';
  readonly value?: string;
  readonly autocomplete: string;
  readonly hint?: string;
  /** Sample value, shown in the empty field. */
  readonly placeholder?: string;
  readonly inputMode?: 'numeric';
  /**
   * Makes the page script submit the form as soon as the code has `count` digits; `note` tells the user that the form is submitted
   * automatically.
   */
  readonly digits?: { readonly count: number; readonly note: string };
  /** Adds a button that shows the password. The button requires the page script. */
  readonly reveal?: Messages['reveal'];
  readonly enterKey: 'next' | 'done';
  readonly focus?: boolean;
  readonly optional?: boolean;
};

/** Renders a form field with its label, hint and error message. */
export function formField(
  {
    name,
    label,
    type = 'text',
    value = '',
    autocomplete,
    hint,
    placeholder,
    inputMode,
    digits,
    reveal,
    enterKey,
    focus,
    optional = false,
  }: Field,
  faults: readonly FieldError[],
): Html {
  const fault = faults.find((one) => one.field === name);
  const describedBy = [hint && `${name}-hint`, fault && `${name}-fault`].filter(Boolean).join(' ');
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}${fault && html`<p class="fault" id="${name}-fault">${fault.text}</p>`}
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value}"
      autocomplete="${autocomplete}"
      enterkeyhint="${enterKey}"
      ${!optional && html`required`}
      ${placeholder !== undefined && html`placeholder="${placeholder}"`}
      ${type === 'email' && html`inputmode="email" autocapitalize="none" spellcheck="false"`}
      ${inputMode !== undefined && html`inputmode="${inputMode}"`}
      ${digits && html`data-digits="${String(digits.count)}" data-note="${digits.note}"`}
      ${describedBy !== '' && html`aria-describedby="${describedBy}"`}
      ${fault && html`aria-invalid="true"`}
      ${focus === true && faults.length === 0 && html`autofocus`}
    />
    ${reveal && revealButton(name, reveal)}
  </div>`;
}

/** Renders a hidden button, which the page script shows. */
const revealButton = (name: string, { show, hide, showPassword, hidePassword }: Messages['reveal']): Html =>
  html`<button
    type="button"
    class="reveal"
    data-reveal="${name}"
    data-other="${hide}"
    data-other-label="${hidePassword}"
    aria-label="${showPassword}"
    aria-controls="${name}"
    hidden
  >
    ${show}
  </button>`;

type Checkbox = {
  readonly name: string;
  readonly value: string;
  readonly label: string;
  /** Lines of additional text below the label. */
  readonly details?: readonly string[];
  readonly checked?: boolean;
};

/** Renders a checkbox inside its label. */
export const checkboxField = ({ name, value, label, details = [], checked = false }: Checkbox): Html =>
  html`<label class="check">
    <input type="checkbox" name="${name}" value="${value}" ${checked && html`checked`} />
    <span>${label}${details.map((detail) => html`<small>${detail}</small>`)}</span>
  </label>`;

export const hiddenField = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}" />`;
