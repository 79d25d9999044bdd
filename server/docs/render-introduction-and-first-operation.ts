import { isJsonObject, jsonPrimitiveToText, type JsonObject, type JsonValue } from '@mandate/contract/json';
import { html, type Html } from '../http/response/html-template.ts';
import { renderTextWithInlineCode } from '../problems/problem-pages.ts';

/**
 * Renders the introduction and the first operation of an OpenAPI document. Browsers show this content until Scalar has started, which takes
 * about a second of CPU time. If JavaScript is disabled, browsers show this content permanently.
 */
export function renderIntroductionAndFirstOperation(document: JsonObject): Html {
  const [path = '', methods] = Object.entries(toObject(document['paths']))[0] ?? [];
  const [method = '', operation] = Object.entries(toObject(methods))[0] ?? [];
  const { summary = '', description, ['x-codeSamples']: samples } = toObject(operation);
  const sample = toObject(Array.isArray(samples) ? samples[0] : undefined);
  const { title = '', description: introduction } = toObject(document['info']);
  return html`<main id="first-operation" lang="en">
    <h1>${jsonPrimitiveToText(title)}</h1>
    ${renderParagraphs(introduction)}
    <h2>${jsonPrimitiveToText(summary)}</h2>
    <p><code>${method.toUpperCase()} ${path}</code></p>
    ${renderParagraphs(description)}
    <pre tabindex="0"><code>${jsonPrimitiveToText(sample['source'] ?? '')}</code></pre>
  </main>`;
}

const toObject = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

const renderParagraphs = (text: JsonValue | undefined): Html[] =>
  typeof text === 'string' ? text.split('\n\n').map((paragraph) => html`<p>${renderTextWithInlineCode(paragraph)}</p>`) : [];
