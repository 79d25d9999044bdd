import { html, type Html } from '../../../../http/response/html-template.ts';
import { formField, hiddenField, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';
import { renderAccountSubpage, renderAccountSuccessPage } from './account-subpage-layout-and-basic-forms.ts';

export type ProfilePageViewModel = {
  readonly csrf: string;
  readonly name: string;
  readonly email: string;
  /** The language of the pages and e-mails, or undefined if the user has not set a language. */
  readonly languageName: string | undefined;
  readonly faults: readonly FieldError[];
};

/** Renders the form for the name, with links to the pages on which the user changes the e-mail address and the language. */
export function profilePage(settings: PageSettings, { csrf, name, email, languageName, faults }: ProfilePageViewModel): Html {
  const { messages } = settings;
  const { profile, accountMenu, changeLanguage } = messages;
  return renderAccountSubpage(
    settings,
    profile.title,
    html`<p class="quiet">${profile.text}</p>
      <form method="post" novalidate>
        ${hiddenField('csrf', csrf)}
        ${formField({ name: 'name', label: messages.name, value: name, autocomplete: 'name', enterKey: 'done' }, faults)}
        <button type="submit">${profile.submit}</button>
      </form>
      <ul class="menu">
        <li>
          <a href="/account/email"
            ><span>${accountMenu.email}<small>${email}</small></span></a
          >
        </li>
        <li>
          <a href="/account/language"
            ><span>${accountMenu.language}<small>${languageName ?? changeLanguage.automatic}</small></span></a
          >
        </li>
      </ul>`,
    faults,
  );
}

export const profileChangedPage = (settings: PageSettings, name: string): Html =>
  renderAccountSuccessPage(settings, settings.messages.profile.doneTitle, settings.messages.profile.done({ name }));
