import { readFile } from 'node:fs/promises';

export type Instruction = { readonly name: string; readonly text: string };

/** A Dockerfile as a list of instructions, each on one line. */
export async function readDockerfile(path: string): Promise<readonly Instruction[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => !line.startsWith('#') && line.trim() !== '');
  const joined = lines.join('\n').replaceAll(/\s*\\\n\s*/g, ' ');
  return joined.split('\n').map((line) => {
    const [, name = '', text = ''] = /^(\w+) +(.+)$/.exec(line) ?? [];
    return { name: name.toUpperCase(), text };
  });
}

/** From one `FROM` to the next. */
export type Stage = { readonly name: string; readonly from: string; readonly instructions: readonly Instruction[] };

export function stagesOf(instructions: readonly Instruction[]): readonly Stage[] {
  const begins = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []));
  return begins.map((begin, index) => {
    const [, from = '', name = ''] = /^(\S+)(?: +AS +(\S+))?$/i.exec(instructions[begin]?.text ?? '') ?? [];
    return { name, from, instructions: instructions.slice(begin + 1, begins[index + 1]) };
  });
}

/** What an instruction in the form of a JSON list says: `["node", "server/main.ts"]`. */
export const listOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')));

/** Which files of the build context the daemon is sent, by the rules of a `.dockerignore`: the last that matches decides. */
export function contextFilter(dockerignore: string): (file: string) => boolean {
  const rules = dockerignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return (file) => {
    // what matches a folder matches all in it
    const folders = file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
    const last = rules.findLast((rule) => folders.some((folder) => matches(rule.replace(/^!/, ''), folder)));
    return last === undefined || last.startsWith('!');
  };
}

function matches(rule: string, folder: string): boolean {
  const pattern = rule
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('**/', '\0')
    .replaceAll('*', '[^/]*')
    .replaceAll('\0', '(?:.*/)?');
  return new RegExp(`^${pattern}$`).test(folder);
}
