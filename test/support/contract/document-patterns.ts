/** Returns the patterns of an OpenAPI document, except those that are only part of an example. */
export function listDocumentPatterns(document: unknown): string[] {
  const patterns = new Set<string>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'pattern' && typeof value === 'string') patterns.add(value);
      else if (!['example', 'examples', 'x-codeSamples'].includes(key)) visit(value);
    }
  };
  visit(document);
  return [...patterns];
}

/**
 * Syntax that Python, Java, Go and JavaScript (without flags) do not all interpret in the same way. `npm run clients:patterns` compiles
 * the patterns in these languages.
 */
const unportableSyntax: readonly (readonly [reason: string, RegExp])[] = [
  ['Python and JavaScript without flags have no Unicode properties', /\\[pP]/],
  ['Python, Java and Go write code points differently', /\\u/],
  ['Go has no lookarounds', /\(\?<?[=!]/],
  ['Go has no references to groups', /\\[1-9k]/],
  ['languages write names of groups differently', /\(\?P?<\w/],
  ['Java reads a bracket in a class as another class', /\[(?:[^\]\\]|\\.)*?(?<!\\)\[/],
  ['Java reads `&&` in a class as an intersection', /\[(?:[^\]\\]|\\.)*?&&/],
  ['Go allows at most 1000 repetitions', /\{(?:\d+,)?(?:100[1-9]|10[1-9]\d|1[1-9]\d\d|[2-9]\d{3}|\d{5,})\}/],
];

/** Returns the reasons why a pattern is not portable. */
export function findUnportableSyntax(pattern: string): string[] {
  const reasons = unportableSyntax.filter(([, syntax]) => syntax.test(pattern)).map(([reason]) => reason);
  try {
    void new RegExp(pattern);
    return reasons;
  } catch (error) {
    return [...reasons, String(error)];
  }
}
