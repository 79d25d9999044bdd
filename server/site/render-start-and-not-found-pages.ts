import { formatFirstOrderCommands } from '../first-run/format-first-order-commands.ts';
import { html, type Html, type HtmlChild } from '../http/response/html-template.ts';
import { linkButton, renderPage, type PageSettings } from '../oauth/pages/views/page-layout-and-form-fields.ts';

type Options = { readonly issuer: string; readonly development: boolean };

/** Renders the page at `/`, which describes the service and links to its other pages. In development, the page shows the first commands. */
export function renderStartPage(settings: PageSettings, { issuer, development }: Options): Html {
  const { start } = settings.messages;
  const links = [
    ['/account', start.account],
    ['/docs', start.reference],
    ['/openapi.json', start.openApi],
  ];
  return renderPage(
    settings,
    start.title,
    html`<h1>${start.title}</h1>
      <p>${start.about({ shop: settings.shop.name })}</p>
      ${linkButton('/sign-in', start.signIn)}${linkButton('/sign-up', settings.messages.signIn.toSignUp, 'second')}
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
      ${development && firstCommands(settings, issuer)}`,
  );
}

const passwordFile = 'first-run.json';

function firstCommands({ messages: { start } }: PageSettings, issuer: string): Html {
  const [beforeFile, afterFile] = start.password({ file: passwordFile }).split(passwordFile);
  return html`<section>
    <h2>${start.nextSteps}</h2>
    <p>${start.runCommands}</p>
    <ol class="commands">
      ${formatFirstOrderCommands(issuer).map((command) => html`<li><code>${unbreakOptions(command)}</code></li>`)}
    </ol>
    <p class="quiet">${beforeFile}<code class="unbroken">${passwordFile}</code>${afterFile}</p>
  </section>`;
}

/** Wraps each command option in an element that prevents browsers from breaking the line between `--` and the name. */
const unbreakOptions = (command: string): HtmlChild =>
  command.split(/(?<=\s)(?=--)|(?=\s)/).map((part) => (part.startsWith('--') ? html`<span class="option">${part}</span>` : part));

export const renderNotFoundPage = (settings: PageSettings): Html => {
  const { notFound } = settings.messages;
  return renderPage(
    settings,
    notFound.title,
    html`<h1>${notFound.title}</h1>
      <p>${notFound.text}</p>
      ${linkButton('/', notFound.toStart)}`,
  );
};
