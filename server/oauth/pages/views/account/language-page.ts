import { html, type Html } from '../../../../http/response/html-template.ts';
import { renderAccountSubpage, renderAccountSuccessPage } from './account-subpage-layout-and-basic-forms.ts';
import { hiddenField, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';

type Form = { readonly csrf: string; readonly locale: string | null; readonly faults: readonly FieldError[] };

export function changeLanguagePage(settings: PageSettings, { csrf, locale, faults }: Form): Html {
  const { changeLanguage: messages } = settings.messages;
  const selected = locale === null ? undefined : settings.languages.match(locale)?.tag;
  const choices = [
    { value: '', label: html`${messages.automatic}` },
    ...settings.languages.all.map(({ tag, messages: { language } }) => ({
      value: tag,
      label: html`<span lang="${tag}">${language.name}</span>`,
    })),
  ];
  const form = html`<p class="quiet">${messages.text}</p>
    <form method="post" novalidate>
      ${hiddenField('csrf', csrf)}
      <fieldset class="field" id="locale">
        <legend>${messages.label}</legend>
        ${faults.map(({ text }) => html`<p class="fault">${text}</p>`)}
        ${choices.map(
          ({ value, label }) =>
            html`<label class="check"
              ><input type="radio" name="locale" value="${value}" ${value === (selected ?? '') && html`checked`} /><span
                >${label}</span
              ></label
            >`,
        )}
      </fieldset>
      <button type="submit">${messages.submit}</button>
    </form>`;
  return renderAccountSubpage(settings, messages.title, form, faults);
}

export const languageChangedPage = (settings: PageSettings): Html =>
  renderAccountSuccessPage(settings, settings.messages.changeLanguage.doneTitle, settings.messages.changeLanguage.done);
