import { Html } from './html-template.ts';

/** Matches an element that contains no markup, a tag, or the text between two tags. */
const documentPart = /<(title|style|script|textarea|option)\b[^>]*>.*?<\/\1>|<[^>]*>|[^<]+/gs;

/**
 * Keeps words such as “e-mail” in the text of a document on one line. Otherwise, browsers would break these words after the hyphen.
 * E-mail addresses and URLs stay unchanged.
 * @param attribute attribute that is added to a `span` around each of these words, and that prevents line breaks in it
 */
export const preventBreakAfterHyphenInEmailWord = (document: Html, attribute: Html): Html =>
  new Html(
    document
      .toString()
      .replaceAll(documentPart, (part) => (part.startsWith('<') || !/e-mail/i.test(part) ? part : wrapEmailWords(part, attribute))),
  );

const wrapEmailWords = (text: string, attribute: Html): string =>
  text.replaceAll(/\S+/g, (word) =>
    /[@/]|\.\w/.test(word) ? word : word.replaceAll(/\be-mails?\b/gi, (match) => `<span ${attribute.toString()}>${match}</span>`),
  );
