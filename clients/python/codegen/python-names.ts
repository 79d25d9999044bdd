const keywords: ReadonlySet<string> = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

export const isPythonKeyword = (name: string): boolean => keywords.has(name);

/** Returns a Python name for a parameter or method: `adjustStock` becomes `adjust_stock`, and `from` becomes `from_`. */
export function toSnakeCase(name: string): string {
  const snake = name.replaceAll(/(?<=[a-z\d])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  return isPythonKeyword(snake) ? `${snake}_` : snake;
}

/** Returns a Python class name: `next_action` becomes `NextAction`, and `productCategories` becomes `ProductCategories`. */
export const toPascalCase = (name: string): string => name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Returns a Python string literal. */
export const toPythonString = (text: string): string => JSON.stringify(text);

/** Wraps text into lines of at most 100 columns, each of which starts with the prefix. */
export function wrapText(text: string, prefix: string): string {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && prefix.length + line.length + 1 + word.length > 100) [lines[lines.length], line] = [line, word];
      else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines.map((line) => (prefix + line).trimEnd()).join('\n');
}
