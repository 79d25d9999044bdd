import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const repository = join(import.meta.dirname, '../..');

export type CodeBlock = {
  readonly file: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** File and first line, which find the block again after lines have moved. */
  readonly name: string;
};

/** The fenced code blocks of a Markdown file of the repository. */
export async function codeBlocksOf(file: string): Promise<CodeBlock[]> {
  const source = await readFile(join(repository, file), 'utf8');
  return Array.from(source.matchAll(/^( *)(`{3,}|~{3,})(\S*)[^\n]*\n(.*?)^\1\2 *$/gms), ({ index, 3: language = '', 4: text = '' }) => {
    const line = source.slice(0, index).split('\n').length;
    return { file, line, language, text, name: `${file}: ${text.split('\n', 1)[0]?.trim() ?? ''}` };
  });
}

/** The lines of the only code block of a file that begins with these words. */
export async function commandsOf(file: string, beginning: string): Promise<string[]> {
  const found = (await codeBlocksOf(file)).filter(({ text }) => text.startsWith(beginning));
  if (found.length !== 1) throw new Error(`${file} has ${found.length} code blocks that begin with ${beginning}`);
  return (found[0]?.text ?? '').trimEnd().split('\n');
}

/** The items of the numbered list below a heading. */
export async function stepsOf(file: string, heading: string): Promise<string[]> {
  const source = await readFile(join(repository, file), 'utf8');
  const section = source.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${file} has no section ${heading}`);
  return Array.from(section.matchAll(/^\d+\. (.*)$/gm), ([, step = '']) => step);
}
