import { Option, type Command } from 'commander';
import { aliasOfCommand, aliasOfGroup, resolveAlias } from '../contract-commands/command-aliases.ts';
import { byHand } from '../contract-commands/handwritten-commands.ts';
import { commandSpecs } from '../contract-commands/commands.gen.ts';
import type { CommandSpec } from '../contract-commands/command-specification.ts';
import { flagDescription, flagsOf, kebabCase, type Flag } from '../contract-commands/flags.ts';
import type { Io } from '../environment.ts';
import { globalFlagsOf, groupCommand, leafCommand, noteChoices } from '../command-helpers.ts';
import { questions } from '../contract-commands/confirmation-questions.ts';
import type { Typed } from '../contract-commands/parse-flags.ts';
import { runContractCommand, type OwnFlags } from '../contract-commands/run-contract-command.ts';
import { settingsOf } from '../settings/settings.ts';

const groupSummaries: Readonly<Record<string, string>> = {
  versions: 'The versions of the API',
  users: 'People who buy, and those who work for the shop',
  products: 'What the shop sells',
  'product-categories': 'The categories of the products, with counts',
  'delivery-methods': 'How an order can reach its customer',
  orders: 'What customers bought',
  payments: 'What customers pay',
  refunds: 'What is paid back',
  shipments: 'Parcels on their way',
  tasks: 'Exports and imports that run in the background',
  events: 'What happened, in order',
  webhooks: 'Events, sent to an address of yours',
  'connected-apps': 'Which applications can act for you',
  'api-keys': 'Keys for programs of your own',
  applications: 'Which applications there are, and what each may ever do',
  'audit-events': 'What happened to credentials and permissions',
  usage: 'Requests made, and the limits for them',
  'signing-keys': 'The keys that tokens are signed with',
};

/** The group that a word names, in full or by its alias. */
export const groupNamed = (word: string): string => resolveAlias(word, Object.keys(groupSummaries), aliasOfGroup) ?? word;

/**
 * One command for each operation of the contract: `mandate <resource> <operation>`; where they are named, of one resource
 * only, and of that the one operation if there is such a one. Whether there is.
 */
export function addContractCommands(program: Command, io: Io, onlyGroup?: string, onlyName?: string): boolean {
  const ofGroup = commandSpecs.filter(({ operationId, group }) => !(operationId in byHand) && (onlyGroup ?? group) === group);
  const names = ofGroup.map(({ name }) => name);
  const single = onlyGroup === undefined ? undefined : ofGroup.find(({ name }) => name === resolveAlias(onlyName, names, aliasOfCommand));
  const derived = single ? [single] : ofGroup;
  for (const [group, specs] of Map.groupBy(derived, (spec) => spec.group)) {
    const parent = groupCommand(program, group, groupSummaries[group] ?? '');
    for (const spec of specs) addContractCommand(parent, spec, io);
  }
  return single !== undefined;
}

function addContractCommand(parent: Command, spec: CommandSpec, io: Io): void {
  const command = leafCommand(parent, spec.name, spec.summary);
  if (spec.description) command.description(`${spec.summary}.\n${spec.description}`);
  for (const { name, schema } of spec.pathParameters) command.argument(`<${kebabCase(name)}>`, schema.description);
  const typed = addContractFlags(command, spec);
  if (spec.body) command.option('--input <file>', 'JSON body to begin with; flags override it; - reads standard input');
  if (spec.ifMatch) command.option('--if-match <etag>', 'only if it is still this version');
  if (spec.paginated) command.option('--all', 'every page');
  if (spec.method === 'GET') command.option('-w, --web', 'open it in the browser');
  if (spec.operationId in questions) command.option('-y, --yes', 'do not ask');
  command.option('--print-request', 'print the request and send nothing');
  if (spec.scopes.length > 0) command.addHelpText('after', `\nNeeds the scope ${spec.scopes.join(' or ')}.`);
  command.action(async () => {
    const settings = settingsOf(globalFlagsOf(command), io);
    await runContractCommand({ io, settings, spec, path: command.args, typed, own: command.opts<OwnFlags>() });
  });
}

/** The flags of an operation. Each use of one is kept, in order, since some are repeated. */
export function addContractFlags(command: Command, spec: CommandSpec): Typed {
  const typed = new Map<Flag, string[]>();
  for (const flag of flagsOf(spec)) addFlag(command, flag, typed);
  if (spec.idempotent) command.option('--idempotency-key <key>', 'repeat a request safely: the same key never carries it out twice');
  return typed;
}

const choicesFor = ({ schema }: Flag): string[] => {
  const { enum: choices = [], type } = schema.items ?? schema;
  return type.includes('boolean') ? ['true', 'false'] : choices.filter((choice) => choice !== null);
};

function addFlag(command: Command, flag: Flag, typed: Map<Flag, string[]>): void {
  const description = flagDescription(flag);
  if (flag.kind === 'switch') {
    command.option(flag.name, description.replace(/^`true` /, ''));
    command.on(`option:${flag.name.slice(2)}`, () => typed.set(flag, ['true']));
    return;
  }
  const value = flag.kind === 'objects' || flag.kind === 'pairs' ? 'pairs' : 'value';
  const option = new Option(`${flag.name} <${value}>`, description).argParser((text: string) => {
    typed.set(flag, [...(typed.get(flag) ?? []), text]);
    return text;
  });
  command.addOption(noteChoices(option, choicesFor(flag)));
}
