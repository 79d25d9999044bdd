/** Aliases for operations, named after the corresponding shell commands. */
const shortNames: Readonly<Record<string, string>> = { list: 'ls', delete: 'rm', remove: 'rm', revoke: 'rm' };

/** Returns `ls` for `list`, `rm` for `delete`, `remove` and `revoke`, and undefined for all other commands. */
export const getCommandAlias = (name: string): string | undefined => shortNames[name];

/** Returns the singular of a plural group name: `order` for `orders`, `category` for `categories`. */
export const getCommandGroupAlias = (name: string): string | undefined => {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`;
  return name.endsWith('s') ? name.slice(0, -1) : undefined;
};

/** Returns the entry of `names` that equals `word` or has `word` as its alias. If no entry matches, returns `word` itself. */
export const resolveCommandAlias = (
  word: string | undefined,
  names: readonly string[],
  aliasOf: (name: string) => string | undefined,
): string | undefined => (word === undefined || names.includes(word) ? word : (names.find((name) => aliasOf(name) === word) ?? word));
