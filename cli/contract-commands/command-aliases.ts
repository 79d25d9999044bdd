/** Short names of operations, as shells have them. */
const shortNames: Readonly<Record<string, string>> = { list: 'ls', delete: 'rm', remove: 'rm', revoke: 'rm' };

/** `ls` for `list`, `rm` for what deletes; none for most commands. */
export const aliasOfCommand = (name: string): string | undefined => shortNames[name];

/** `order` for `orders`, `category` for `categories`. */
export const aliasOfGroup = (name: string): string | undefined => {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`;
  return name.endsWith('s') ? name.slice(0, -1) : undefined;
};

/** The name among `names` that `word` is, in full or by its alias; otherwise `word` itself. */
export const resolveAlias = (
  word: string | undefined,
  names: readonly string[],
  aliasOf: (name: string) => string | undefined,
): string | undefined => (word === undefined || names.includes(word) ? word : (names.find((name) => aliasOf(name) === word) ?? word));
