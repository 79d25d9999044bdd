import express, { type Response, type Router } from 'express';
import { problemDeclarations, type ProblemCode } from '@mandate/contract';
import { html, type Html } from '../http/response/html-template.ts';
import { createPageSecurityHeaders } from '../oauth/pages/assets/page-security-headers.ts';
import { renderPage, type PageSettings } from '../oauth/pages/views/page-layout-and-form-fields.ts';
import { problemPageTexts } from './problem-page-texts.ts';

/** Serves the pages that problem `type` URLs point to: one page per code, and a list at `/problems`. */
export function serveProblemPages(pageSettings: PageSettings, issuer: string): Router {
  const sendPage = async (res: Response, render: (settings: PageSettings) => Html, status = 200): Promise<void> => {
    await pageSettings.refreshBranding();
    const document = render({ ...pageSettings, scriptPath: undefined });
    res.status(status).set(createPageSecurityHeaders(issuer)).type('html').send(document.toString());
  };
  return express
    .Router({ caseSensitive: true, strict: true })
    .get('/problems', (_req, res) => sendPage(res, listPage))
    .get('/problems/:code', ({ params: { code } }, res) =>
      isProblemCode(code) ? sendPage(res, (settings) => codePage(settings, code)) : sendPage(res, unknownPage, 404),
    );
}

const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problemDeclarations, code);

const problemCodes = Object.keys(problemDeclarations).filter(isProblemCode);

function codePage(settings: PageSettings, code: ProblemCode): Html {
  const { status, title } = problemDeclarations[code];
  const { cause: happened, fix: mend } = problemPageTexts[code];
  return renderPage(
    settings,
    title,
    html`<p class="quiet"><code>${status}</code> <code>${code}</code></p>
      <h1>${title}</h1>
      <section>
        <h2>What happened</h2>
        <p>${renderTextWithInlineCode(happened)}</p>
      </section>
      <section>
        <h2>How to fix it</h2>
        <p>${renderTextWithInlineCode(mend)}</p>
      </section>
      <p class="elsewhere"><a href="/problems">All problems</a></p>`,
  );
}

function listPage(settings: PageSettings): Html {
  const byStatus = [...Map.groupBy(problemCodes, (code) => problemDeclarations[code].status)].toSorted(([one], [other]) => one - other);
  return renderPage(
    settings,
    'Problems',
    html`<h1>Problems</h1>
      <p>All errors of the API, by the <code>code</code> in the response.</p>
      ${byStatus.map(
        ([status, codes]) =>
          html`<section>
            <h2>${status}</h2>
            <ul class="menu">
              ${codes.map(
                (code) =>
                  html`<li>
                    <a href="/problems/${code}"
                      ><span>${problemDeclarations[code].title} <code class="quiet">${code}</code></span></a
                    >
                  </li>`,
              )}
            </ul>
          </section>`,
      )}`,
  );
}

const unknownPage = (settings: PageSettings): Html =>
  renderPage(
    settings,
    'No such problem',
    html`<h1>No such problem</h1>
      <p>This version of the server does not know a problem with this code. It may come from a newer version.</p>
      <p class="elsewhere"><a href="/problems">All problems</a></p>`,
  );

/** Renders text between backquotes as code. Splitting the text at backquotes leaves the code at odd indexes. */
export const renderTextWithInlineCode = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
