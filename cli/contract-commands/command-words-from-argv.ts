const globalFlagsWithValue: ReadonlySet<string> = new Set([
  '-p',
  '--profile',
  '--api-url',
  '--fields',
  '--get',
  '--jq',
  '--color',
  '--timeout',
]);
const globalSwitches: ReadonlySet<string> = new Set(['--json', '--jsonl', '-q', '--quiet', '--no-input', '--no-color', '--debug']);

/**
 * Returns the two words that identify the command: the first two words after any leading global flags. Returns an empty array if any other
 * flag precedes these words.
 */
export function commandWordsFromArgv(argv: readonly string[]): readonly [first?: string, second?: string] {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-')) return [word, argv[index + 1] ?? ''];
    if (globalFlagsWithValue.has(word)) index++;
    else if (!globalSwitches.has(word) && !/^--(?:profile|api-url|fields|get|jq|color|timeout)=/.test(word)) return [];
  }
  return [];
}
