import { html, type Html } from './html.ts';
import { page, type Setting } from './page-layout.ts';

/** Something to know, and at most one thing to do. */
const notice = (setting: Setting, title: string, text: string, more?: Html): Html =>
  page(
    setting,
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      ${more}`,
  );

export const noticePage = (setting: Setting, title: string, text: string): Html => notice(setting, title, text);

export const failurePage = (setting: Setting, title: string, text: string, detail?: string): Html =>
  notice(
    setting,
    title,
    text,
    detail === undefined ? undefined : html`<p class="quiet">${setting.words.failure.details} <code>${detail}</code></p>`,
  );

/** Something was done, and the way on is to sign in. */
export const signInLinkPage = (setting: Setting, title: string, text: string, link: string = setting.words.signUp.toSignIn): Html =>
  notice(setting, title, text, html`<p class="elsewhere"><a href="/sign-in">${link}</a></p>`);

export const signedOutPage = (setting: Setting): Html =>
  notice(
    setting,
    setting.words.signedOut.title,
    setting.words.signedOut.text(setting.shop.name),
    html`<p class="elsewhere"><a href="/sign-in">${setting.words.signedOut.back}</a></p>`,
  );

/** `form` is the library's own, which the buttons belong to by its id. */
export const confirmSignOutPage = (setting: Setting, form: Html): Html => {
  const { signOut } = setting.words;
  return notice(
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
