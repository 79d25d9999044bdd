import { nextSteps } from '../first-run/next-steps.ts';
import { html, type Html } from '../oauth/pages/views/html.ts';
import { page, type Setting } from '../oauth/pages/views/page-layout.ts';

type Options = { readonly issuer: string; readonly development: boolean };

/** Renders the page at `/`, which describes the service and links to its other pages, in development also to the first commands. */
export function startPage(setting: Setting, { issuer, development }: Options): Html {
  const { start } = setting.words;
  const links = [
    ['/sign-in', start.signIn],
    ['/account', start.account],
    ['/docs', start.reference],
    ['/openapi.json', start.openApi],
  ];
  return page(
    setting,
    start.title,
    html`<h1>${start.title}</h1>
      <p>${start.about(setting.shop.name)}</p>
      <nav>
        <ul class="menu">
          ${links.map(
            ([path, name]) =>
              html`<li>
                <a href="${path}"><span>${name}</span></a>
              </li>`,
          )}
        </ul>
      </nav>
      ${development && firstCommands(setting, issuer)}`,
  );
}

const firstCommands = ({ words: { start } }: Setting, issuer: string): Html =>
  html`<section>
    <h2>${start.nextSteps}</h2>
    <p>${start.runCommands}</p>
    <ol class="commands">
      ${nextSteps(issuer).map((command) => html`<li><code>${command}</code></li>`)}
    </ol>
    <p class="quiet">${start.password('first-run.json')}</p>
  </section>`;

export const notFoundPage = (setting: Setting): Html => {
  const { notFound } = setting.words;
  return page(
    setting,
    notFound.title,
    html`<h1>${notFound.title}</h1>
      <p>${notFound.text}</p>
      <p class="elsewhere"><a href="/">${notFound.toStart}</a></p>`,
  );
};
