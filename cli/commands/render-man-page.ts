import type { Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { helpTopics } from '../output/help-topics.ts';
import { isGlobalOption } from './global-flags-and-command-groups.ts';

/** Returns the name of a command's man page, such as `mandate-orders-pay`. */
export const getManPageName = (command: Command): string => commandPath(command).join('-');

/** Returns a command's man page in roff, built from its `--help` output. */
export function renderManPage(command: Command): string {
  const help = command.createHelp();
  const name = getManPageName(command);
  const children = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const isRoot = command.parent === null;
  return [
    `.TH ${escapeRoff(name.toUpperCase())} 1 "" "mandate ${packageJson.version}" "Mandate"`,
    section('NAME', [`${escapeRoff(name)} \\- ${escapeRoff(command.summary() || firstSentence(command.description()))}`]),
    section('SYNOPSIS', [`.B ${escapeRoff(commandPath(command).join(' '))}`, escapeRoff(command.usage())]),
    section('DESCRIPTION', paragraphs(help.commandDescription(command))),
    section('ARGUMENTS', definitions(help.visibleArguments(command).map((one) => [help.argumentTerm(one), help.argumentDescription(one)]))),
    section('COMMANDS', definitions(children.map((child) => [help.subcommandTerm(child), help.subcommandDescription(child)]))),
    section(
      'OPTIONS',
      definitions(options.filter((option) => !isGlobalOption(option)).map((one) => [one.flags, help.optionDescription(one)])),
    ),
    section('GLOBAL OPTIONS', definitions(options.filter(isGlobalOption).map((one) => [one.flags, help.optionDescription(one)]))),
    section('NOTES', preformatted(textAfterHelp(command))),
    ...(isRoot ? Object.values(helpTopics).map(({ text }) => topicSection(text)) : []),
    section('SEE ALSO', [
      relatedPages(command, children)
        .map((related) => `${escapeRoff(related)}(1)`)
        .join(', '),
    ]),
  ]
    .filter(Boolean)
    .join('\n')
    .concat('\n');
}

const commandPath = (command: Command): string[] => [...(command.parent ? commandPath(command.parent) : []), command.name()];

const firstSentence = (text: string): string => text.split(/\.(?:\s|$)/, 1)[0] ?? '';

const section = (title: string, lines: readonly string[]): string => (lines.some(Boolean) ? [`.SH ${title}`, ...lines].join('\n') : '');

const paragraphs = (text: string): string[] =>
  text
    .split('\n')
    .filter(Boolean)
    .flatMap((line, index) => [...(index > 0 ? ['.PP'] : []), escapeRoff(line)]);

const definitions = (terms: readonly (readonly [term: string, text: string])[]): string[] =>
  terms.flatMap(([term, text]) => ['.TP', `\\fB${escapeRoff(term)}\\fR`, escapeRoff(text.replaceAll('\n', ' ')) || '\\&']);

const preformatted = (text: string): string[] => (text.trim() === '' ? [] : ['.nf', ...text.trim().split('\n').map(escapeRoff), '.fi']);

/** Formats a help topic as a section. The first line of the topic is its title. */
function topicSection(text: string): string {
  const [title = '', ...lines] = text.split('\n');
  return section(title.toUpperCase(), preformatted(lines.join('\n')));
}

/** Returns the examples and notes that a command prints after its help. */
function textAfterHelp(command: Command): string {
  let output = '';
  const before = command.configureOutput();
  command.configureOutput({ ...before, writeOut: (text) => void (output += text) });
  command.outputHelp();
  command.configureOutput(before);
  return output.slice(command.helpInformation().length);
}

const relatedPages = (command: Command, children: readonly Command[]): string[] => [
  ...(command.parent ? [getManPageName(command.parent)] : []),
  ...children.map(getManPageName),
];

/** Escapes text for roff: backslashes, hyphens, and a dot or apostrophe at the start of a line, which would be control characters. */
const escapeRoff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&');
