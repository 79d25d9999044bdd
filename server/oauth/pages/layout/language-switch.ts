import type { Messages } from '../../../languages/languages.ts';
import { html, type Html } from '../../../http/response/html-template.ts';

/** Query or form parameter that the language switch uses to select a language. */
export const languageParameter = 'language';

export type LanguageSwitch = {
  readonly languages: readonly { readonly tag: string; readonly name: string }[];
  /** The page's query string, which the language links preserve. */
  readonly query: string;
  /** ID of the form that the language switch submits. Without a form, the language switch consists of links to the URL of the page. */
  readonly formId?: string;
};

/** Renders the languages as links, or as buttons on a page that can be shown again only by submitting a form. */
export const renderLanguageSwitch = ({ language: current }: Messages, { languages, query, formId }: LanguageSwitch): Html =>
  html`<nav class="languages" aria-label="${current.switch}">
    <ul>
      ${languages.map(({ tag, name }) => html`<li>${tag === current.tag ? html`<span lang="${tag}" aria-current="true">${name}</span>` : languageChoice(tag, name, query, formId)}</li>`)}
    </ul>
  </nav>`;

function languageChoice(tag: string, name: string, query: string, formId: string | undefined): Html {
  if (formId !== undefined)
    return html`<button class="inline" form="${formId}" name="${languageParameter}" value="${tag}" lang="${tag}">${name}</button>`;
  const parameters = new URLSearchParams(query);
  parameters.set(languageParameter, tag);
  return html`<a href="?${parameters.toString()}" lang="${tag}" hreflang="${tag}">${name}</a>`;
}

/** Makes a page's language switch submit one of the page's forms, because the page has state that its URL does not contain. */
export const copySettingsWithFormLanguageSwitch = <Settings extends { readonly languageSwitch?: LanguageSwitch | undefined }>(
  settings: Settings,
  formId: string,
): Settings => ({ ...settings, languageSwitch: settings.languageSwitch && { ...settings.languageSwitch, formId } });
