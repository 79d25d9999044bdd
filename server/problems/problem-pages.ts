import express, { type Request, type Response, type Router } from 'express';
import { problemDeclarations, type ProblemCode } from '@mandate/contract';
import { html, type Html } from '../http/response/html-template.ts';
import { createPageSecurityHeaders } from '../oauth/pages/assets/page-security-headers.ts';
import { localizePageSettingsForRequest, setPageLanguageHeaders } from '../oauth/pages/views/select-and-store-page-language.ts';
import { renderPage, type PageSettings } from '../oauth/pages/views/page-layout-and-form-fields.ts';
import { problemPageTexts } from './problem-page-texts.ts';

/** Serves the pages at the `type` URLs of problems. There is one page per code, and a list at `/problems`. */
export function serveProblemPages(pageSettings: PageSettings, issuer: string): Router {
  const sendPage = async (req: Request, res: Response, render: (settings: PageSettings) => Html, status = 200): Promise<void> => {
    await pageSettings.refreshBranding();
    const settings = { ...localizePageSettingsForRequest(pageSettings, req), scriptPath: undefined };
    setPageLanguageHeaders(res, settings);
    res.status(status).set(createPageSecurityHeaders(issuer)).type('html').send(render(settings).toString());
  };
  return express
    .Router({ caseSensitive: true, strict: true })
    .get('/problems', (req, res) => sendPage(req, res, listPage))
    .get('/problems/:code', (req, res) => {
      const { code } = req.params;
      return isProblemCode(code) ? sendPage(req, res, (settings) => codePage(settings, code)) : sendPage(req, res, unknownPage, 404);
    });
}

const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problemDeclarations, code);

const problemCodes = Object.keys(problemDeclarations).filter(isProblemCode);

/** Renders the page for a problem code. The explanations are in English, because they are part of the API reference. */
function codePage(settings: PageSettings, code: ProblemCode): Html {
  const { problem: titles, problemPages: texts } = settings.messages;
  const { cause, fix } = problemPageTexts[code];
  return renderPage(
    settings,
    titles[code],
    html`<p class="quiet"><code>${problemDeclarations[code].status}</code> <code>${code}</code></p>
      <h1>${titles[code]}</h1>
      <section>
        <h2>${texts.cause}</h2>
        <p lang="en">${renderTextWithInlineCode(cause)}</p>
      </section>
      <section>
        <h2>${texts.fix}</h2>
        <p lang="en">${renderTextWithInlineCode(fix)}</p>
      </section>
      <p class="elsewhere"><a href="/problems">${texts.toList}</a></p>`,
  );
}

function listPage(settings: PageSettings): Html {
  const { problem: titles, problemPages: texts } = settings.messages;
  const byStatus = [...Map.groupBy(problemCodes, (code) => problemDeclarations[code].status)].toSorted(([one], [other]) => one - other);
  return renderPage(
    settings,
    texts.title,
    html`<h1>${texts.title}</h1>
      <p>${renderTextWithInlineCode(texts.about)}</p>
      ${byStatus.map(
        ([status, codes]) =>
          html`<section>
            <h2>${status}</h2>
            <ul class="menu">
              ${codes.map(
                (code) =>
                  html`<li>
                    <a href="/problems/${code}"
                      ><span>${titles[code]} <code class="quiet">${code}</code></span></a
                    >
                  </li>`,
              )}
            </ul>
          </section>`,
      )}`,
  );
}

function unknownPage(settings: PageSettings): Html {
  const texts = settings.messages.problemPages;
  return renderPage(
    settings,
    texts.unknownTitle,
    html`<h1>${texts.unknownTitle}</h1>
      <p>${texts.unknownText}</p>
      <p class="elsewhere"><a href="/problems">${texts.toList}</a></p>`,
  );
}

/** Renders text between backquotes as code. When the text is split at the backquotes, the parts with odd indexes are code. */
export const renderTextWithInlineCode = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
