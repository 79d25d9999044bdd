import { Command } from 'commander';
import packageJson from './package.json' with { type: 'json' };
import type { Io } from './environment.ts';
import { prepareJq } from './output/jq-filter.ts';
import { addGlobalFlags, globalFlagsOf } from './command-helpers.ts';

const examples = `
Examples:
  mandate login
  mandate products list --category bags --limit 5
  mandate orders create --item product_id=1,quantity=2 --delivery.method collection --delivery.recipient-name "Ann Lee"
  mandate orders list --status paid --json
  mandate orders export --status paid -o orders.csv
  mandate api /api/v1/orders --paginate

What holds for every command: mandate help exit-codes, environment, formats, sign-in
`;

type Add = (program: Command, io: Io) => void | Promise<void>;

/** Commands that stand alone, by the word after `mandate`. */
const alone: Readonly<Record<string, Add>> = {
  login: async (...to) => (await import('./commands/login.ts')).addLogin(...to),
  logout: async (...to) => (await import('./commands/logout.ts')).addLogout(...to),
  whoami: async (...to) => (await import('./commands/whoami.ts')).addWhoami(...to),
  auth: async (...to) => (await import('./commands/auth.ts')).addAuth(...to),
  profile: async (...to) => (await import('./commands/profile.ts')).addProfile(...to),
  config: async (...to) => (await import('./commands/config.ts')).addConfig(...to),
  api: async (...to) => (await import('./commands/api.ts')).addApi(...to),
  docs: async (...to) => (await import('./commands/docs.ts')).addDocs(...to),
  mcp: async (...to) => (await import('./commands/mcp.ts')).addMcp(...to),
  completion: async (...to) => (await import('./commands/completion.ts')).addCompletion(...to),
  commands: async (...to) => (await import('./commands/command-tree.ts')).addCommandTree(...to),
  help: async (...to) => (await import('./commands/help.ts')).addHelp(...to),
};

/** Commands that go beside those of the contract, by the group that they belong to. */
const beside: readonly (readonly [group: string, add: Add])[] = [
  ['orders', async (...to) => (await import('./commands/orders/order-pay.ts')).addOrderPay(...to)],
  ['orders', async (...to) => (await import('./commands/orders/order-watch.ts')).addOrderWatch(...to)],
  ['orders', async (...to) => (await import('./commands/orders/order-export.ts')).addOrderExport(...to)],
  ['orders', async (program, io) => (await import('./commands/orders/import-file.ts')).addImport(program, io, 'orders')],
  ['products', async (program, io) => (await import('./commands/orders/import-file.ts')).addImport(program, io, 'products')],
  ['tasks', async (...to) => (await import('./commands/tasks/task-wait.ts')).addTaskWait(...to)],
  ['tasks', async (...to) => (await import('./commands/tasks/task-result.ts')).addTaskResult(...to)],
  ['events', async (...to) => (await import('./commands/events/event-watch.ts')).addEventWatch(...to)],
  ['webhooks', async (...to) => (await import('./commands/events/webhook-listen.ts')).addWebhookListen(...to)],
];

/** Those that speak of all the others. */
const ofAll: ReadonlySet<string> = new Set(['help', 'commands']);

/**
 * The command line, as much of it as `word` and the `next` one need: loading what the other commands are made of would take longer than most of
 * them run. Without a word, or with one that is not known, all of it.
 */
export async function buildProgram(io: Io, word?: string, next?: string): Promise<Command> {
  const program = emptyProgram(io);
  const single = word === undefined || ofAll.has(word) ? undefined : alone[word];
  if (single) await single(program, io);
  else if (word === undefined || ofAll.has(word)) await addEverything(program, io);
  else await addGroup(program, io, word, next);
  if (program.commands.length === 0) return buildProgram(io);
  addGlobalFlags(program);
  program.hook('preAction', async (_, command) => {
    const { jq } = globalFlagsOf(command);
    if (jq !== undefined) await prepareJq(jq);
  });
  return program;
}

async function addEverything(program: Command, io: Io): Promise<void> {
  const { addContractCommands } = await import('./commands/contract-commands.ts');
  for (const add of Object.values(alone).slice(0, signInCommands)) await add(program, io);
  addContractCommands(program, io);
  for (const [, add] of beside) await add(program, io);
  for (const add of Object.values(alone).slice(signInCommands)) await add(program, io);
}

async function addGroup(program: Command, io: Io, word: string, next: string | undefined): Promise<void> {
  const { addContractCommands, groupNamed } = await import('./commands/contract-commands.ts');
  const group = groupNamed(word);
  if (addContractCommands(program, io, group, next)) return;
  for (const [name, add] of beside) if (name === group) await add(program, io);
}

/** They come first in the help: nothing else works before. */
const signInCommands = 4;

const emptyProgram = (io: Io): Command =>
  new Command('mandate')
    .description('Orders and everything else the Mandate API has, at a terminal.')
    .usage('<command>')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // Failures are told in one place, with their exit code.
      writeErr: () => undefined,
      getOutHelpWidth: () => io.stdout.columns,
      getOutHasColors: () => false,
    })
    .version(packageJson.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print what a command does and takes')
    .helpCommand(false)
    .addHelpText('after', examples);
