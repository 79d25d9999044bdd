import { defaultLanguageTag, type Language } from '../../languages/languages.ts';
import type { Problem, ProblemEntry } from './problem.ts';
import { translateDetail } from './translate-detail.ts';
import type { ProblemDetail } from './translatable-text.ts';

type TranslatedProblem = {
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly (Omit<ProblemEntry, 'detail'> & { readonly detail: string })[] | undefined;
  /** Language tags of the translated texts. Text that the catalogs do not contain is in English. */
  readonly languageTags: readonly string[];
};

/** Translates the title and the details of a problem. */
export function translateProblem({ code, detail, errors }: Problem, language: Language): TranslatedProblem {
  const languageTags = new Set([language.tag]);
  const translate = (text: ProblemDetail): string => translateDetail(text, language, () => languageTags.add(defaultLanguageTag));
  const title = language.messages.problem[code];
  return {
    title,
    detail: detail === undefined ? title : translate(detail),
    errors: errors?.map((entry) => ({ ...entry, detail: translate(entry.detail) })),
    languageTags: [...languageTags],
  };
}
