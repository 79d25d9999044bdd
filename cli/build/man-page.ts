import type { Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { helpTopics } from '../output/help-topics.ts';
import { isGlobalFlag } from '../command-helpers.ts';

/** `mandate-orders-pay`: the name of the man page of a command. */
export const manPageName = (command: Command): string => wordsOf(command).join('-');

/** The man page of a command, made from what its `--help` prints. */
export function manPage(command: Command): string {
  const help = command.createHelp();
  const name = manPageName(command);
  const children = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const isRoot = command.parent === null;
  return [
    `.TH ${roff(name.toUpperCase())} 1 "" "mandate ${packageJson.version}" "Mandate"`,
    section('NAME', [`${roff(name)} \\- ${roff(command.summary() || firstSentence(command.description()))}`]),
    section('SYNOPSIS', [`.B ${roff(wordsOf(command).join(' '))}`, roff(command.usage())]),
    section('DESCRIPTION', paragraphs(help.commandDescription(command))),
    section('ARGUMENTS', definitions(help.visibleArguments(command).map((one) => [help.argumentTerm(one), help.argumentDescription(one)]))),
    section('COMMANDS', definitions(children.map((child) => [help.subcommandTerm(child), help.subcommandDescription(child)]))),
    section(
      'OPTIONS',
      definitions(options.filter((option) => !isGlobalFlag(option)).map((one) => [one.flags, help.optionDescription(one)])),
    ),
    section('GLOBAL OPTIONS', definitions(options.filter(isGlobalFlag).map((one) => [one.flags, help.optionDescription(one)]))),
    section('NOTES', preformatted(textAfterHelp(command))),
    ...(isRoot ? Object.values(helpTopics).map(({ text }) => topicSection(text)) : []),
    section('SEE ALSO', [
      relatedPages(command, children)
        .map((related) => `${roff(related)}(1)`)
        .join(', '),
    ]),
  ]
    .filter(Boolean)
    .join('\n')
    .concat('\n');
}

const wordsOf = (command: Command): string[] => [...(command.parent ? wordsOf(command.parent) : []), command.name()];

const firstSentence = (text: string): string => text.split(/\.(?:\s|$)/, 1)[0] ?? '';

const section = (title: string, lines: readonly string[]): string => (lines.some(Boolean) ? [`.SH ${title}`, ...lines].join('\n') : '');

const paragraphs = (text: string): string[] =>
  text
    .split('\n')
    .filter(Boolean)
    .flatMap((line, index) => [...(index > 0 ? ['.PP'] : []), roff(line)]);

const definitions = (terms: readonly (readonly [term: string, text: string])[]): string[] =>
  terms.flatMap(([term, text]) => ['.TP', `\\fB${roff(term)}\\fR`, roff(text.replaceAll('\n', ' ')) || '\\&']);

const preformatted = (text: string): string[] => (text.trim() === '' ? [] : ['.nf', ...text.trim().split('\n').map(roff), '.fi']);

/** A help topic begins with its title. */
function topicSection(text: string): string {
  const [title = '', ...lines] = text.split('\n');
  return section(title.toUpperCase(), preformatted(lines.join('\n')));
}

/** The examples and notes that a command adds to its help. */
function textAfterHelp(command: Command): string {
  let written = '';
  const before = command.configureOutput();
  command.configureOutput({ ...before, writeOut: (text) => void (written += text) });
  command.outputHelp();
  command.configureOutput(before);
  return written.slice(command.helpInformation().length);
}

const relatedPages = (command: Command, children: readonly Command[]): string[] => [
  ...(command.parent ? [manPageName(command.parent)] : []),
  ...children.map(manPageName),
];

/** Text as roff shows it: a backslash, a hyphen, and a dot or an apostrophe at the start of a line would be commands. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&');
