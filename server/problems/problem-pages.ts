import express, { type Response, type Router } from 'express';
import { problems, type ProblemCode } from '@mandate/contract';
import { html, type Html } from '../oauth/pages/views/html.ts';
import { pageHeaders } from '../oauth/pages/assets/page-security-headers.ts';
import { page, type Setting } from '../oauth/pages/views/page-layout.ts';
import { problemWords } from './problem-texts.ts';

/** What the `type` of every failure leads to: a page for each code, and a list of all of them at `/problems`. */
export function problemPages(given: Setting, issuer: string): Router {
  const setting = { ...given, scriptPath: undefined };
  const send = (res: Response, document: Html, status = 200): void => {
    const headers = { ...pageHeaders(issuer), ...(status === 200 && { 'Cache-Control': 'public, max-age=3600' }) };
    res.status(status).set(headers).type('html').send(document.toString());
  };
  return express
    .Router({ caseSensitive: true, strict: true })
    .get('/problems', (_req, res) => send(res, listPage(setting)))
    .get('/problems/:code', ({ params: { code } }, res) =>
      isCode(code) ? send(res, codePage(setting, code)) : send(res, unknownPage(setting), 404),
    );
}

const isCode = (code: string): code is ProblemCode => Object.hasOwn(problems, code);

const codes = Object.keys(problems).filter(isCode);

function codePage(setting: Setting, code: ProblemCode): Html {
  const { status, title } = problems[code];
  const { happened, mend } = problemWords[code];
  return page(
    setting,
    title,
    html`<p class="quiet"><code>${status}</code> <code>${code}</code></p>
      <h1>${title}</h1>
      <section>
        <h2>What happened</h2>
        <p>${withCode(happened)}</p>
      </section>
      <section>
        <h2>How to mend it</h2>
        <p>${withCode(mend)}</p>
      </section>
      <p class="elsewhere"><a href="/problems">All problems</a></p>`,
  );
}

function listPage(setting: Setting): Html {
  const byStatus = [...Map.groupBy(codes, (code) => problems[code].status)].toSorted(([one], [other]) => one - other);
  return page(
    setting,
    'Problems',
    html`<h1>Problems</h1>
      <p>Every way in which a request to the API can fail, by the <code>code</code> in the answer.</p>
      ${byStatus.map(
        ([status, ones]) =>
          html`<section>
            <h2>${status}</h2>
            <ul class="menu">
              ${ones.map(
                (code) =>
                  html`<li>
                    <a href="/problems/${code}"
                      ><span>${problems[code].title} <code class="quiet">${code}</code></span></a
                    >
                  </li>`,
              )}
            </ul>
          </section>`,
      )}`,
  );
}

const unknownPage = (setting: Setting): Html =>
  page(
    setting,
    'No such problem',
    html`<h1>No such problem</h1>
      <p>This installation knows no problem of this name. It may come from a newer version.</p>
      <p class="elsewhere"><a href="/problems">All problems</a></p>`,
  );

/** Every second piece stood between backquotes. */
const withCode = (text: string): Html[] =>
  text.split('`').map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
