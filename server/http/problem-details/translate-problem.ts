import { defaultLanguageTag, type Language } from '../../languages/languages.ts';
import type { Problem, ProblemEntry } from './problem.ts';

type TranslatedProblem = {
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly ProblemEntry[] | undefined;
  /** Language tags of the texts. A detail that contains values from the request is always in English. */
  readonly languageTags: readonly string[];
};

/** Translates the title of a problem, and each detail that is a fixed sentence. */
export function translateProblem({ code, detail, errors }: Problem, { tag, messages }: Language): TranslatedProblem {
  const translations: Readonly<Record<string, string>> = messages.problemDetail;
  const languageTags = new Set([tag]);
  const translate = (text: string): string => {
    const translation = Object.hasOwn(translations, text) ? translations[text] : undefined;
    if (translation === undefined) languageTags.add(defaultLanguageTag);
    return translation ?? text;
  };
  const title = messages.problem[code];
  return {
    title,
    detail: detail === undefined ? title : translate(detail),
    errors: errors?.map((entry) => ({ ...entry, detail: translate(entry.detail) })),
    languageTags: [...languageTags],
  };
}
