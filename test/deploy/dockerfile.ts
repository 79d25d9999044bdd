import { readFile } from 'node:fs/promises';

export type Instruction = { readonly name: string; readonly text: string };

/** Reads a Dockerfile's instructions, and joins the lines of each instruction into one. */
export async function readDockerfile(path: string): Promise<readonly Instruction[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => !line.startsWith('#') && line.trim() !== '');
  const joined = lines.join('\n').replaceAll(/\s*\\\n\s*/g, ' ');
  return joined.split('\n').map((line) => {
    const [, name = '', text = ''] = /^(\w+) +(.+)$/.exec(line) ?? [];
    return { name: name.toUpperCase(), text };
  });
}

/** A build stage, from one `FROM` to the next. */
export type BuildStage = { readonly name: string; readonly from: string; readonly instructions: readonly Instruction[] };

export function buildStages(instructions: readonly Instruction[]): readonly BuildStage[] {
  const begins = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []));
  return begins.map((begin, index) => {
    const [, from = '', name = ''] = /^(\S+)(?: +AS +(\S+))?$/i.exec(instructions[begin]?.text ?? '') ?? [];
    return { name, from, instructions: instructions.slice(begin + 1, begins[index + 1]) };
  });
}

/** Parses an instruction in JSON form, such as `["node", "server/main.ts"]`. */
export const parseJsonList = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')));

/** Returns a function that checks whether a file is in the build context. As in `.dockerignore`, the last matching rule applies. */
export function contextFilter(dockerignore: string): (file: string) => boolean {
  const rules = dockerignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return (file) => {
    // a rule that matches a folder applies to all files in it
    const folders = file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
    const last = rules.findLast((rule) => folders.some((folder) => ruleMatches(rule.replace(/^!/, ''), folder)));
    return last === undefined || last.startsWith('!');
  };
}

function ruleMatches(rule: string, folder: string): boolean {
  const pattern = rule
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('**/', '\0')
    .replaceAll('*', '[^/]*')
    .replaceAll('\0', '(?:.*/)?');
  return new RegExp(`^${pattern}$`).test(folder);
}
