import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const repositoryRoot = join(import.meta.dirname, '../..');

export type CodeBlock = {
  readonly file: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** File name and first line of the block. Unlike the line number, this name does not change when the text above the block changes. */
  readonly name: string;
};

/** Returns the fenced code blocks of a Markdown file in the repository. */
export async function readCodeBlocks(file: string): Promise<CodeBlock[]> {
  const source = await readFile(join(repositoryRoot, file), 'utf8');
  return Array.from(source.matchAll(/^( *)(`{3,}|~{3,})(\S*)[^\n]*\n(.*?)^\1\2 *$/gms), ({ index, 3: language = '', 4: text = '' }) => {
    const line = source.slice(0, index).split('\n').length;
    return { file, line, language, text, name: `${file}: ${text.split('\n', 1)[0]?.trim() ?? ''}` };
  });
}

/** Returns the lines of the file's only code block that starts with `prefix`. */
export async function readCommandBlock(file: string, prefix: string): Promise<string[]> {
  const blocks = (await readCodeBlocks(file)).filter(({ text }) => text.startsWith(prefix));
  if (blocks.length !== 1) throw new Error(`${file} has ${blocks.length} code blocks that start with ${prefix}`);
  return (blocks[0]?.text ?? '').trimEnd().split('\n');
}

/** Returns the numbered list items in the section with this heading. */
export async function readNumberedSteps(file: string, heading: string): Promise<string[]> {
  const source = await readFile(join(repositoryRoot, file), 'utf8');
  const section = source.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${file} has no section ${heading}`);
  return Array.from(section.matchAll(/^\d+\. (.*)$/gm), ([, step = '']) => step);
}
