import { html, type Html } from '../../../http/response/html-template.ts';
import { renderPage, type PageSettings } from './page-layout-and-form-fields.ts';

/** Renders a page with a message and at most one action. */
const messagePage = (settings: PageSettings, title: string, text: string, more?: Html): Html =>
  renderPage(
    settings,
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      ${more}`,
  );

export const noticePage = (settings: PageSettings, title: string, text: string): Html => messagePage(settings, title, text);

export const errorPage = (settings: PageSettings, title: string, text: string, detail?: string): Html =>
  messagePage(
    settings,
    title,
    text,
    detail === undefined ? undefined : html`<p class="quiet">${settings.messages.failure.details} <code>${detail}</code></p>`,
  );

/** Renders a message with a link to the sign-in page. */
export const messageWithSignInLinkPage = (
  settings: PageSettings,
  title: string,
  text: string,
  link: string = settings.messages.signUp.toSignIn,
): Html => messagePage(settings, title, text, html`<p class="elsewhere"><a href="/sign-in">${link}</a></p>`);

export const signedOutPage = (settings: PageSettings): Html =>
  messagePage(
    settings,
    settings.messages.signedOut.title,
    settings.messages.signedOut.text({ shop: settings.shop.name }),
    html`<p class="elsewhere"><a href="/sign-in">${settings.messages.signedOut.back}</a></p>`,
  );

/** Renders the sign-out confirmation. `form` comes from oidc-provider, and the buttons refer to the form's ID. */
export const confirmSignOutPage = (settings: PageSettings, form: Html): Html => {
  const { signOut } = settings.messages;
  return messagePage(
    settings,
    signOut.title({ shop: settings.shop.name }),
    signOut.text,
    html`${form}
      <div class="choice">
        <button class="second" form="op.logoutForm">${signOut.stay}</button>
        <button form="op.logoutForm" name="logout" value="yes">${signOut.submit}</button>
      </div>`,
  );
};
