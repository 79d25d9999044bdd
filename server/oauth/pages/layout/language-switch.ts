import type { Messages } from '../../../languages/languages.ts';
import { html, type Html } from '../../../http/response/html-template.ts';

/** Query or form parameter that the language switch uses to select a language. */
export const languageParameter = 'language';

export type LanguageSwitch = {
  readonly languages: readonly { readonly tag: string; readonly name: string }[];
  /**
   * Query string of a GET request that shows the same page, which the language links preserve. Undefined if no GET request shows the page
   * again, because the page is the result of a submitted form or of a link that works only once.
   */
  readonly query: string | undefined;
  /** ID of the form that the language switch submits. Without a form, the language switch consists of links to the URL of the page. */
  readonly formId?: string;
};

/**
 * Renders the languages as links, or as buttons on a page that can be shown again only by submitting a form. Returns undefined if the page
 * cannot be shown again, because a link would lead to a different page and the user would lose the result.
 */
export function renderLanguageSwitch({ language: current }: Messages, { languages, query, formId }: LanguageSwitch): Html | undefined {
  if (query === undefined && formId === undefined) return undefined;
  const choice = (tag: string, name: string): Html =>
    formId === undefined ? languageLink(tag, name, query) : languageButton(tag, name, formId);
  return html`<nav class="languages" aria-label="${current.switch}">
    <ul>
      ${languages.map(({ tag, name }) => html`<li>${tag === current.tag ? html`<span lang="${tag}" aria-current="true">${name}</span>` : choice(tag, name)}</li>`)}
    </ul>
  </nav>`;
}

const languageButton = (tag: string, name: string, formId: string): Html =>
  html`<button class="inline" form="${formId}" name="${languageParameter}" value="${tag}" lang="${tag}">${name}</button>`;

function languageLink(tag: string, name: string, query: string | undefined): Html {
  const parameters = new URLSearchParams(query);
  parameters.set(languageParameter, tag);
  return html`<a href="?${parameters.toString()}" lang="${tag}" hreflang="${tag}">${name}</a>`;
}

/**
 * Makes a page's language switch submit one of the page's forms, because the page has state that its URL does not contain. A page with
 * errors gets no language switch, because the form would be shown again without the errors.
 */
export const copySettingsWithFormLanguageSwitch = <Settings extends { readonly languageSwitch?: LanguageSwitch | undefined }>(
  settings: Settings,
  formId: string,
  errors: readonly unknown[] = [],
): Settings =>
  errors.length > 0 ? settings : { ...settings, languageSwitch: settings.languageSwitch && { ...settings.languageSwitch, formId } };
