import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../schema/find-schema-violations.ts';
import { completionTree, globalFlags } from './completion.gen.ts';
import type { CompletionCommand, CompletionFlag } from './completion-tree-types.ts';

export type CompletionCandidate = { readonly value: string; readonly about: string };

/**
 * Returns completions for the last word. If this word can have any value, returns no candidates, so that the shell completes file names.
 */
export function findCompletionCandidates(words: readonly string[], profiles: readonly string[]): CompletionCandidate[] {
  const current = words.at(-1) ?? '';
  let command: CompletionCommand = { name: 'mandate', about: '', commands: completionTree };
  let position = 0;
  let flagWithoutValue: CompletionFlag | undefined;
  const used = new Set<string>();
  for (const word of words.slice(0, -1)) {
    if (flagWithoutValue) {
      flagWithoutValue = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const [name = ''] = word.split('=', 1);
      const flag = allFlags(command).find(({ names }) => names.includes(name));
      if (flag && !flag.repeatable) for (const one of flag.names) used.add(one);
      if (flag?.values && !word.includes('=')) flagWithoutValue = flag;
      continue;
    }
    const child = command.commands?.find(({ name, aliases }) => name === word || aliases?.includes(word));
    if (child) command = child;
    else position++;
  }
  const matches = ({ value }: CompletionCandidate): boolean => value.startsWith(current);
  if (flagWithoutValue) return valueCandidates(flagWithoutValue, profiles).filter(matches);
  if (/^--[\w.-]+=/.test(current)) return candidatesAfterEquals(command, current, profiles).filter(matches);
  if (current.startsWith('-')) {
    const unused = allFlags(command).filter(({ names }) => !names.some((name) => used.has(name)));
    return unused
      .flatMap(({ names, about }) => names.filter((name) => name.startsWith('--')).map((value) => ({ value, about })))
      .filter(matches);
  }
  const children = (command.commands ?? []).map(({ name, about }) => ({ value: name, about }));
  return [...children, ...(command.places?.[position] ?? []).map((value) => ({ value, about: '' }))].filter(matches);
}

const allFlags = ({ flags = [] }: CompletionCommand): readonly CompletionFlag[] => [...flags, ...globalFlags];

const valueCandidates = ({ names, values = [] }: CompletionFlag, profiles: readonly string[]): CompletionCandidate[] =>
  (names.includes('--profile') ? profiles : values).map((value) => ({ value, about: '' }));

function candidatesAfterEquals(command: CompletionCommand, current: string, profiles: readonly string[]): CompletionCandidate[] {
  const name = current.slice(0, current.indexOf('='));
  const flag = allFlags(command).find(({ names }) => names.includes(name));
  return flag?.values ? valueCandidates(flag, profiles).map(({ value, about }) => ({ value: `${name}=${value}`, about })) : [];
}

/** Returns the profile names in the configuration and credential files. Ignores files that cannot be read. */
export function readProfileNames(directory: string): string[] {
  const names = ['config.json', 'credentials.json'].flatMap((file) => {
    try {
      const content: unknown = JSON.parse(readFileSync(join(directory, file), 'utf8'));
      const profiles = file === 'config.json' && isRecord(content) ? content['profiles'] : content;
      return isRecord(profiles) ? Object.keys(profiles) : [];
    } catch {
      return [];
    }
  });
  return [...new Set(names)].toSorted();
}

/** Returns the output of `mandate __complete <shell> <words>` in the format that the shell's completion script expects. */
export function findAndFormatCompletionCandidates(shell: string, words: readonly string[], profiles: readonly string[]): string {
  if (shell === 'powershell')
    return formatCandidates(findCompletionCandidates([...words.slice(0, -1), (words.at(-1) ?? '').replace(/^=/, '')], profiles), shell);
  if (shell !== 'bash') return formatCandidates(findCompletionCandidates(words, profiles), shell);
  // bash splits `--status=paid` into three words and replaces only the last one.
  const joined = joinAtEquals(words);
  const current = joined.at(-1) ?? '';
  const prefixLength = /^--[\w.-]+=/.exec(current)?.[0].length ?? 0;
  return formatCandidates(
    findCompletionCandidates(joined, profiles).map(({ value, about }) => ({ value: value.slice(prefixLength), about })),
    shell,
  );
}

function joinAtEquals(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const [index, word] of words.entries()) {
    const before = joined.at(-1);
    const continuesFlag = word === '=' || words[index - 1] === '=';
    if (continuesFlag && before !== undefined && before.startsWith('--')) joined[joined.length - 1] = before + word;
    else joined.push(word);
  }
  return joined;
}

function formatCandidates(found: readonly CompletionCandidate[], shell: string): string {
  const text = ({ value, about }: CompletionCandidate): string => {
    if (shell === 'bash' || about === '') return value;
    return shell === 'zsh' ? `${value.replaceAll(':', '\\:')}:${about}` : `${value}\t${about}`;
  };
  return found.map((candidate) => `${text(candidate)}\n`).join('');
}
