import { html, type Html } from '../../../http/response/html.ts';
import { renderPage, type PageSettings } from './page-layout.ts';

/** Renders a page with a message and at most one action. */
const messagePage = (setting: PageSettings, title: string, text: string, more?: Html): Html =>
  renderPage(
    setting,
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      ${more}`,
  );

export const noticePage = (setting: PageSettings, title: string, text: string): Html => messagePage(setting, title, text);

export const errorPage = (setting: PageSettings, title: string, text: string, detail?: string): Html =>
  messagePage(
    setting,
    title,
    text,
    detail === undefined ? undefined : html`<p class="quiet">${setting.words.failure.details} <code>${detail}</code></p>`,
  );

/** Renders a message with a link to the sign-in page. */
export const messageWithSignInLinkPage = (
  setting: PageSettings,
  title: string,
  text: string,
  link: string = setting.words.signUp.toSignIn,
): Html => messagePage(setting, title, text, html`<p class="elsewhere"><a href="/sign-in">${link}</a></p>`);

export const signedOutPage = (setting: PageSettings): Html =>
  messagePage(
    setting,
    setting.words.signedOut.title,
    setting.words.signedOut.text(setting.shop.name),
    html`<p class="elsewhere"><a href="/sign-in">${setting.words.signedOut.back}</a></p>`,
  );

/** Renders the sign-out confirmation. `form` comes from oidc-provider, and the buttons refer to its ID. */
export const confirmSignOutPage = (setting: PageSettings, form: Html): Html => {
  const { signOut } = setting.words;
  return messagePage(
    setting,
    signOut.title(setting.shop.name),
    signOut.text,
    html`${form}
      <div class="choice">
        <button class="second" form="op.logoutForm">${signOut.stay}</button>
        <button form="op.logoutForm" name="logout" value="yes">${signOut.submit}</button>
      </div>`,
  );
};
