import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../contract-commands/schema-violations.ts';
import { completionTree, globalFlags } from './completion.gen.ts';
import type { CompletionCommand, CompletionFlag } from './completion-tree.ts';

export type Candidate = { readonly value: string; readonly about: string };

/** What can stand in place of the last of `words`. Nothing for what only the person knows: then the shell offers files. */
export function candidates(words: readonly string[], profiles: readonly string[]): Candidate[] {
  const current = words.at(-1) ?? '';
  let command: CompletionCommand = { name: 'mandate', about: '', commands: completionTree };
  let place = 0;
  let awaiting: CompletionFlag | undefined;
  const used = new Set<string>();
  for (const word of words.slice(0, -1)) {
    if (awaiting) {
      awaiting = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const [name = ''] = word.split('=', 1);
      const flag = flagsOf(command).find(({ names }) => names.includes(name));
      if (flag && !flag.repeatable) for (const one of flag.names) used.add(one);
      if (flag?.values && !word.includes('=')) awaiting = flag;
      continue;
    }
    const child = command.commands?.find(({ name, aliases }) => name === word || aliases?.includes(word));
    if (child) command = child;
    else place++;
  }
  const beginning = ({ value }: Candidate): boolean => value.startsWith(current);
  if (awaiting) return valuesOf(awaiting, profiles).filter(beginning);
  if (/^--[\w.-]+=/.test(current)) return afterEquals(command, current, profiles).filter(beginning);
  if (current.startsWith('-')) {
    const free = flagsOf(command).filter(({ names }) => !names.some((name) => used.has(name)));
    return free
      .flatMap(({ names, about }) => names.filter((name) => name.startsWith('--')).map((value) => ({ value, about })))
      .filter(beginning);
  }
  const children = (command.commands ?? []).map(({ name, about }) => ({ value: name, about }));
  return [...children, ...(command.places?.[place] ?? []).map((value) => ({ value, about: '' }))].filter(beginning);
}

/** Groups have the global flags as well, but nobody looks for them there. */
const flagsOf = ({ flags = [] }: CompletionCommand): readonly CompletionFlag[] => [...flags, ...globalFlags];

const valuesOf = ({ names, values = [] }: CompletionFlag, profiles: readonly string[]): Candidate[] =>
  (names.includes('--profile') ? profiles : values).map((value) => ({ value, about: '' }));

function afterEquals(command: CompletionCommand, current: string, profiles: readonly string[]): Candidate[] {
  const name = current.slice(0, current.indexOf('='));
  const flag = flagsOf(command).find(({ names }) => names.includes(name));
  return flag?.values ? valuesOf(flag, profiles).map(({ value, about }) => ({ value: `${name}=${value}`, about })) : [];
}

/** The names of profiles, from the files that have them; none where a file cannot be read. */
export function profileNames(directory: string): string[] {
  const names = ['config.json', 'credentials.json'].flatMap((file) => {
    try {
      const content: unknown = JSON.parse(readFileSync(join(directory, file), 'utf8'));
      const profiles = file === 'config.json' && isObject(content) ? content['profiles'] : content;
      return isObject(profiles) ? Object.keys(profiles) : [];
    } catch {
      return [];
    }
  });
  return [...new Set(names)].toSorted();
}

/** Answers `mandate __complete <shell> <words>` in the form that the shell's script reads. */
export function completionLines(shell: string, words: readonly string[], profiles: readonly string[]): string {
  if (shell === 'powershell') return lines(candidates([...words.slice(0, -1), (words.at(-1) ?? '').replace(/^=/, '')], profiles), shell);
  if (shell !== 'bash') return lines(candidates(words, profiles), shell);
  // bash takes `--status=paid` for three words, and replaces the last of them only.
  const joined = joinedAtEquals(words);
  const current = joined.at(-1) ?? '';
  const kept = /^--[\w.-]+=/.exec(current)?.[0].length ?? 0;
  return lines(
    candidates(joined, profiles).map(({ value, about }) => ({ value: value.slice(kept), about })),
    shell,
  );
}

function joinedAtEquals(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const [index, word] of words.entries()) {
    const before = joined.at(-1);
    const belongs = word === '=' || words[index - 1] === '=';
    if (belongs && before !== undefined && before.startsWith('--')) joined[joined.length - 1] = before + word;
    else joined.push(word);
  }
  return joined;
}

function lines(found: readonly Candidate[], shell: string): string {
  const text = ({ value, about }: Candidate): string => {
    if (shell === 'bash' || about === '') return value;
    return shell === 'zsh' ? `${value.replaceAll(':', '\\:')}:${about}` : `${value}\t${about}`;
  };
  return found.map((candidate) => `${text(candidate)}\n`).join('');
}
