import { html, type Html } from './html.ts';
import { page, type Setting } from './page-layout.ts';

/** Renders a page with a message and at most one action. */
const messagePage = (setting: Setting, title: string, text: string, more?: Html): Html =>
  page(
    setting,
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      ${more}`,
  );

export const noticePage = (setting: Setting, title: string, text: string): Html => messagePage(setting, title, text);

export const failurePage = (setting: Setting, title: string, text: string, detail?: string): Html =>
  messagePage(
    setting,
    title,
    text,
    detail === undefined ? undefined : html`<p class="quiet">${setting.words.failure.details} <code>${detail}</code></p>`,
  );

/** Renders a message with a link to the sign-in page. */
export const signInLinkPage = (setting: Setting, title: string, text: string, link: string = setting.words.signUp.toSignIn): Html =>
  messagePage(setting, title, text, html`<p class="elsewhere"><a href="/sign-in">${link}</a></p>`);

export const signedOutPage = (setting: Setting): Html =>
  messagePage(
    setting,
    setting.words.signedOut.title,
    setting.words.signedOut.text(setting.shop.name),
    html`<p class="elsewhere"><a href="/sign-in">${setting.words.signedOut.back}</a></p>`,
  );

/** Renders the sign-out confirmation. `form` comes from oidc-provider, and the buttons refer to its ID. */
export const confirmSignOutPage = (setting: Setting, form: Html): Html => {
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
