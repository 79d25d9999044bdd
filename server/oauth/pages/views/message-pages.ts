import { html, type Html } from '../../../http/response/html-template.ts';
import { linkButton, renderPage, type PageSettings } from './page-layout-and-form-fields.ts';

/** Renders a page with a message and at most one action. */
const messagePage = (settings: PageSettings, title: string, text: string, more?: Html): Html =>
  renderPage(
    settings,
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      ${more}`,
  );

/** A button that leads to the next step. */
export type NextStep = { readonly path: string; readonly text: string; readonly kind?: 'main' | 'second' };

/** Renders a message. `next` is the button for the next step, if there is one. */
export const noticePage = (settings: PageSettings, title: string, text: string, next?: NextStep): Html =>
  messagePage(settings, title, text, next && linkButton(next.path, next.text, next.kind));

/** Renders the page for a form whose CSRF token has become invalid, with a button that leads to the page that contains the form. */
export const formExpiredPage = (settings: PageSettings, path: string): Html =>
  noticePage(settings, settings.messages.formExpired.title, settings.messages.stale, {
    path,
    text: settings.messages.formExpired.back,
  });

type ErrorDetails = {
  /** OAuth error, which helps the developers of the application. */
  readonly oauthError?: string;
  /** URL of the start page, set if the request was for a different host (default: the path `/`). */
  readonly startPage?: string;
};

/** Renders an error with a button that leads to the start page. */
export const errorPage = (settings: PageSettings, title: string, text: string, { oauthError, startPage = '/' }: ErrorDetails = {}): Html =>
  messagePage(
    settings,
    title,
    text,
    html`${oauthError !== undefined && html`<p class="quiet">${settings.messages.failure.details} <code>${oauthError}</code></p>`}
    ${linkButton(startPage, settings.messages.notFound.toStart, 'second')}`,
  );

/** Renders a message with a button that leads to the sign-in page. */
export const messagePageWithSignInLink = (
  settings: PageSettings,
  title: string,
  text: string,
  link: string = settings.messages.signUp.toSignIn,
): Html => messagePage(settings, title, text, linkButton('/sign-in', link));

export const signedOutPage = (settings: PageSettings): Html =>
  messagePage(
    settings,
    settings.messages.signedOut.title,
    settings.messages.signedOut.text({ shop: settings.shop.name }),
    linkButton('/sign-in', settings.messages.signedOut.back),
  );

/** Renders the sign-out confirmation. `form` comes from oidc-provider, and the buttons refer to the form's ID. */
export const confirmSignOutPage = (settings: PageSettings, form: Html): Html => {
  const { signOut, accountMenu } = settings.messages;
  return messagePage(
    settings,
    signOut.title({ shop: settings.shop.name }),
    signOut.text({ page: accountMenu.apps }),
    html`${form}
      <div class="choice">
        <button class="second" form="op.logoutForm">${signOut.stay}</button>
        <button form="op.logoutForm" name="logout" value="yes">${signOut.submit}</button>
      </div>`,
  );
};
