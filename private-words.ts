/** Nonstandard words, and the standard terms to use instead. The linter rejects these words in every package and test. */
const standardTerms: ReadonlyMap<string, string> = new Map([
  ['whoever', 'name the actor'],
  ['somebody', 'name the actor'],
  ['nobody', 'name the actor'],
  ['everybody', 'name the actor'],
  ['amidst', 'during, or in the middle of'],
  ['twin', 'duplicate, or the second process'],
  ['twins', 'duplicates'],
  ['gathered', 'batched'],
  ['standing', 'status, or active'],
  ['let go', 'release, or revoke'],
  ['lets go', 'releases, or revokes'],
  ['letting go', 'releasing, or revoking'],
  ['let in', 'accept, or admit'],
  ['lets in', 'accepts, or admits'],
  ['letting in', 'accepting, or admitting'],
  ['take back', 'undo, or revoke'],
  ['takes back', 'undoes, or revokes'],
  ['taken back', 'undone, or revoked'],
  ['pay back', 'refund'],
  ['paid back', 'refunded'],
  ['give back', 'return, or release'],
  ['given back', 'returned, or released'],
  ['for good', 'permanently'],
]);

/** Words that are rejected only in identifiers, because they are ordinary words in sentences. */
const identifierTerms: ReadonlyMap<string, string> = new Map([
  ['what of', 'state the source and the result, such as orderFromRow'],
  ['what for', 'state the source and the result, such as problemFromError'],
  ['where of', 'state the source and the result, such as getPostgresqlContextText'],
  ['who of', 'state the source and the result, such as formatPrincipalKey'],
]);

const patternOf = (...terms: readonly string[]): RegExp => new RegExp(`\\b(?:${terms.join('|').replaceAll(' ', '\\s+')})\\b`, 'i');
const textPattern = patternOf(...standardTerms.keys());
const identifierPattern = patternOf(...standardTerms.keys(), ...identifierTerms.keys());

/** Splits identifiers such as `whatOfOrder` and `WHAT_OF_ORDER` into lowercase words. */
const splitIdentifier = (name: string): string =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_$]+/g, ' ')
    .toLowerCase();

type Position = { readonly loc?: unknown; readonly range?: unknown };
type Name = Position & { readonly name: string };
type Title = Position & {
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
};
type Callee = { readonly type: string; readonly name?: string; readonly object?: Callee; readonly callee?: Callee; readonly tag?: Callee };
type Call = { readonly callee: Callee; readonly arguments: readonly Title[] };
type Context = {
  readonly sourceCode: { getAllComments(): readonly (Position & { readonly value: string })[] };
  report(problem: { readonly node: Position; readonly message: string }): void;
};

const testFunctions: ReadonlySet<string> = new Set(['test', 'it', 'describe']);

/** Returns whether a call declares tests, such as `test(...)` or `describe.each(...)(...)`. */
const declaresTests = ({ type, name, object, callee, tag }: Callee): boolean =>
  type === 'Identifier'
    ? testFunctions.has(name ?? '')
    : [object, callee, tag].some((inner) => inner !== undefined && declaresTests(inner));

const titleText = ({ type, value, quasis }: Title): string =>
  type === 'TemplateLiteral' ? (quasis ?? []).map((part) => part.value.raw).join(' ') : typeof value === 'string' ? value : '';

function rejectWord(context: Context, node: Position, pattern: RegExp, text: string): void {
  const word = pattern.exec(text)?.[0].toLowerCase().replaceAll(/\s+/g, ' ');
  if (word === undefined) return;
  const term = standardTerms.get(word) ?? identifierTerms.get(word) ?? '';
  context.report({ node, message: `"${word}" is not a standard term. Instead: ${term}.` });
}

/** Linter plugin that rejects private words in identifiers, comments and test titles. */
export default {
  meta: { name: 'language' },
  rules: {
    'private-words': {
      create: (context: Context) => {
        const checkName = (node: Name): void => rejectWord(context, node, identifierPattern, splitIdentifier(node.name));
        return {
          Program: (): void => {
            for (const comment of context.sourceCode.getAllComments()) {
              rejectWord(context, comment, textPattern, comment.value.replaceAll(/\n\s*\*/g, '\n'));
            }
          },
          Identifier: checkName,
          PrivateIdentifier: checkName,
          JSXIdentifier: checkName,
          CallExpression: ({ callee, arguments: [title] }: Call): void => {
            if (title && declaresTests(callee)) rejectWord(context, title, textPattern, titleText(title));
          },
        };
      },
    },
  },
};
