import { html, Html } from '../../../../http/response/html-template.ts';
import { logoFromColumns, type LogoColumns } from '../../../../logos/logo-columns.ts';
import { getLogoPath } from '../../../../logos/logo-path.ts';
import { hiddenField, linkButton, renderPage, type PageSettings } from '../page-layout-and-form-fields.ts';

/** A provider with a button on the sign-in page. */
export type ProviderButton = LogoColumns & {
  readonly slug: string;
  readonly name: string;
  readonly buttonLabel?: string | null | undefined;
};

/** Renders a button for each provider below a separator. `path` is the base path of this sign-in (see `SignInPageViewModel`). */
export const renderProviderButtons = (
  { messages }: PageSettings,
  providers: readonly ProviderButton[],
  { csrf, next, path }: { readonly csrf: string; readonly next: string; readonly path: string },
): Html | undefined =>
  providers.length === 0
    ? undefined
    : html`<p class="separator">${messages.signIn.or}</p>
        ${providers.map(
          (provider) =>
            html`<form method="post" action="${path}/providers/${provider.slug}/start">
              ${hiddenField('csrf', csrf)}${hiddenField('next', next)}
              <button class="second" type="submit">
                ${providerLogo(provider)}${provider.buttonLabel ?? messages.providers.continueWith({ provider: provider.name })}
              </button>
            </form>`,
        )}`;

/** Renders the logo of a provider. Its alternative text is empty, because the text of the button names the provider. */
function providerLogo(provider: ProviderButton): Html | undefined {
  const logo = logoFromColumns(provider);
  return logo ? html`<img class="provider-logo" src="${getLogoPath(logo)}" alt="" width="20" height="20" />` : undefined;
}

/**
 * Renders the page that sends the browser to a provider. Browsers apply the `form-action` directive of the Content-Security-Policy to
 * redirects after a form submission, but not to `<meta http-equiv="refresh">`, so the policy of the sign-in page does not have to contain
 * the URLs of all providers.
 */
export function pageThatRedirectsToProvider(settings: PageSettings, provider: string, url: string): Html {
  const { providers: messages } = settings.messages;
  const title = messages.redirectTitle({ provider });
  const page = renderPage(
    settings,
    title,
    html`<h1>${title}</h1>
      <p>${messages.redirectText({ provider, shop: settings.shop.name })}</p>
      <p class="next"><a class="button main" href="${url}" rel="noreferrer">${messages.redirectLink}</a></p>`,
  );
  return new Html(
    page.toString().replace('</head>', () => `${html`<meta http-equiv="refresh" content="0; url=${url}" />`.toString()}</head>`),
  );
}

/** Renders a message about a sign-in through a provider, with a link back to the sign-in page. */
export const providerMessagePage = (settings: PageSettings, title: string, text: string, signInPath: string): Html =>
  renderPage(
    settings,
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      ${linkButton(signInPath, settings.messages.signUp.toSignIn)}`,
  );

export type ExistingAccountPageViewModel = {
  readonly csrf: string;
  readonly provider: string;
  readonly email: string;
  /** Path of the form that sends a link by e-mail, and its encrypted content; undefined if the user must sign in instead. */
  readonly linkForm: { readonly path: string; readonly pending: string } | undefined;
  readonly signInPath: string;
};

/** Renders the page that offers to link the provider to an existing account with the same e-mail address. */
export function existingAccountPage(settings: PageSettings, content: ExistingAccountPageViewModel): Html {
  const { providers: messages, accountMenu, signUp } = settings.messages;
  const { csrf, provider, email, linkForm, signInPath } = content;
  return renderPage(
    settings,
    messages.existingTitle,
    html`<h1>${messages.existingTitle}</h1>
      <p>${messages.existing({ email, provider })}</p>
      <p class="quiet">${messages.existingHint({ provider, page: accountMenu.security })}</p>
      ${linkButton(signInPath, signUp.toSignIn)}
      ${
        linkForm &&
        html`<p class="separator">${settings.messages.signIn.or}</p>
          <form method="post" action="${linkForm.path}">
            ${hiddenField('csrf', csrf)}${hiddenField('pending', linkForm.pending)}
            <button class="second" type="submit">${messages.sendLink}</button>
          </form>`
      }`,
  );
}

export type ConfirmLinkPageViewModel = {
  readonly csrf: string;
  readonly provider: string;
  readonly email: string;
  /** Name or address of the account at the provider. */
  readonly account: string;
};

/** Renders the page on which the user confirms that the provider account is to be linked. The e-mailed link opens this page. */
export function confirmAccountLinkPage(settings: PageSettings, { csrf, provider, email, account }: ConfirmLinkPageViewModel): Html {
  const { providers: messages } = settings.messages;
  const title = messages.confirmTitle({ provider });
  return renderPage(
    settings,
    title,
    html`<h1>${title}</h1>
      <p>${messages.confirm({ email, account, provider })}</p>
      <form method="post">${hiddenField('csrf', csrf)}<button type="submit">${messages.confirmSubmit}</button></form>`,
  );
}
