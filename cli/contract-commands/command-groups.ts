const globalWithValue: ReadonlySet<string> = new Set(['-p', '--profile', '--api-url', '--fields', '--get', '--jq', '--color', '--timeout']);
const globalAlone: ReadonlySet<string> = new Set(['--json', '--jsonl', '-q', '--quiet', '--no-input', '--no-color', '--debug']);

/** The words that say which command it is, behind global flags; none where anything else comes before the first of them. */
export function commandWords(argv: readonly string[]): readonly [first?: string, second?: string] {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-')) return [word, argv[index + 1] ?? ''];
    if (globalWithValue.has(word)) index++;
    else if (!globalAlone.has(word) && !/^--(?:profile|api-url|fields|get|jq|color|timeout)=/.test(word)) return [];
  }
  return [];
}
