import type { Mutant } from './mutant.ts';

const operators: readonly { readonly find: RegExp; readonly replace: string }[] = [
  { find: / <= /g, replace: ' < ' },
  { find: / >= /g, replace: ' > ' },
  { find: / < /g, replace: ' <= ' },
  { find: / > /g, replace: ' >= ' },
  { find: / is null\b/g, replace: ' is not null' },
  { find: / is not null\b/g, replace: ' is null' },
  { find: / and /g, replace: ' or ' },
  { find: / or /g, replace: ' and ' },
  { find: / for update(?: skip locked)?/g, replace: '' },
  { find: / skip locked/g, replace: '' },
  { find: / desc\b/g, replace: ' asc' },
  { find: / \+ /g, replace: ' - ' },
  { find: / - /g, replace: ' + ' },
  { find: /(?<= where [^`]*) = /g, replace: ' <> ' },
];

/** Matches template literals, which contain this project's SQL. Nested template literals are not supported. */
const templates = /`[^`]*`/g;
const isSql = (text: string): boolean => /\b(?:select|insert into|update|delete from|where|order by)\b/.test(text);

/** Returns small changes to the SQL text in a source file: to comparisons, conditions, locks and row order. */
export function sqlMutations(file: string, content: string): readonly Mutant[] {
  const statements = [...content.matchAll(templates)].filter(([text]) => isSql(text));
  return statements.flatMap(({ 0: text, index }) =>
    operators.flatMap(({ find, replace }) =>
      [...text.matchAll(find)]
        .filter(({ index: at }) => !isInSubstitution(text, at))
        .map(({ 0: before, index: at }) => {
          const start = index + at;
          const line = content.slice(0, start).split('\n').length;
          return { file, line, operator: 'Sql', start, end: start + before.length, before, after: replace };
        }),
    ),
  );
}

/** Returns whether the text is TypeScript code in `${...}`, which StrykerJS already mutates. */
function isInSubstitution(text: string, at: number): boolean {
  const before = text.slice(0, at);
  return before.lastIndexOf('${') > before.lastIndexOf('}');
}
