import { Command } from 'commander';
import packageJson from './package.json' with { type: 'json' };
import type { CliEnvironment } from './environment/cli-environment-type.ts';
import { loadJqAndCheckFilter } from './output/jq-filter.ts';
import { addGlobalFlags, readGlobalFlags } from './commands/global-flags-and-command-groups.ts';

const examples = `
Examples:
  mandate login
  mandate products list --category bags --limit 5
  mandate orders create --item product_id=1,quantity=2 --delivery.method collection --delivery.recipient-name "Ann Lee"
  mandate orders list --status paid --json
  mandate orders export --status paid -o orders.csv
  mandate api /api/v1/orders --paginate

Help topics (mandate help <topic>): exit-codes, environment, formats, sign-in
`;

type AddCommand = (program: Command, io: CliEnvironment) => void | Promise<void>;

/** Handwritten top-level commands, by name. The commands in this list are not part of a generated command group. */
const standaloneCommands: Readonly<Record<string, AddCommand>> = {
  login: async (...to) => (await import('./commands/login.ts')).addLoginCommand(...to),
  logout: async (...to) => (await import('./commands/logout.ts')).addLogoutCommand(...to),
  whoami: async (...to) => (await import('./commands/whoami.ts')).addWhoamiCommand(...to),
  auth: async (...to) => (await import('./commands/auth-status-token-and-scopes.ts')).addAuthStatusTokenAndScopesCommands(...to),
  apps: async (...to) => (await import('./commands/set-connected-app-order-limits.ts')).addSetConnectedAppOrderLimitsCommand(...to),
  profile: async (...to) => (await import('./commands/profile.ts')).addProfileCommands(...to),
  config: async (...to) => (await import('./commands/config.ts')).addConfigCommands(...to),
  api: async (...to) => (await import('./commands/send-api-request.ts')).addSendApiRequestCommand(...to),
  docs: async (...to) => (await import('./commands/open-reference-in-browser.ts')).addOpenReferenceInBrowserCommand(...to),
  mcp: async (...to) => (await import('./commands/mcp.ts')).addMcpCommand(...to),
  completion: async (...to) => (await import('./commands/completion.ts')).addCompletionCommand(...to),
  commands: async (...to) => (await import('./commands/list-all-commands.ts')).addListAllCommandsCommand(...to),
  help: async (...to) => (await import('./commands/help.ts')).addHelpCommand(...to),
};

/** Handwritten commands that are added to a generated command group. */
const extraGroupCommands: readonly (readonly [group: string, add: AddCommand])[] = [
  ['orders', async (...to) => (await import('./commands/orders/order-pay.ts')).addOrdersPayCommand(...to)],
  ['orders', async (...to) => (await import('./commands/orders/order-watch.ts')).addOrdersWatchCommand(...to)],
  ['orders', async (program, io) => (await import('./commands/tasks/export-file.ts')).addExportCommand(program, io, 'orders')],
  ['orders', async (program, io) => (await import('./commands/tasks/import-file.ts')).addImportCommand(program, io, 'orders')],
  ['products', async (program, io) => (await import('./commands/tasks/import-file.ts')).addImportCommand(program, io, 'products')],
  ['users', async (program, io) => (await import('./commands/tasks/export-file.ts')).addExportCommand(program, io, 'users')],
  ['users', async (program, io) => (await import('./commands/tasks/import-file.ts')).addImportCommand(program, io, 'users')],
  ['approvals', async (...to) => (await import('./commands/approvals-watch.ts')).addApprovalsWatchCommand(...to)],
  ['branding', async (...to) => (await import('./commands/set-logo.ts')).addSetLogoCommand(...to, 'branding.setLogo')],
  ['identity-providers', async (...to) => (await import('./commands/set-logo.ts')).addSetLogoCommand(...to, 'identityProviders.setLogo')],
  ['stats', async (...to) => (await import('./commands/statistics/order-statistics.ts')).addOrderStatisticsCommand(...to)],
  ['tasks', async (...to) => (await import('./commands/tasks/task-wait.ts')).addTasksWaitCommand(...to)],
  ['tasks', async (...to) => (await import('./commands/tasks/download-task-result.ts')).addDownloadTaskResultCommand(...to)],
  ['events', async (...to) => (await import('./commands/events/event-watch.ts')).addEventsWatchCommand(...to)],
  [
    'webhooks',
    async (...to) => (await import('./commands/events/forward-events-to-local-server.ts')).addForwardEventsToLocalServerCommand(...to),
  ],
];

/** Commands that print information about all other commands. */
const metaCommands: ReadonlySet<string> = new Set(['help', 'commands']);

/**
 * Builds only the part of the command tree that the command line's first two words select, because loading all commands takes longer
 * than running most commands. Builds the whole tree if `word` is missing or unknown.
 */
export async function buildCliProgram(io: CliEnvironment, word?: string, next?: string): Promise<Command> {
  const program = emptyProgram(io);
  const single = word === undefined || metaCommands.has(word) ? undefined : standaloneCommands[word];
  if (single) await single(program, io);
  else if (word === undefined || metaCommands.has(word)) await addEverything(program, io);
  else await addGroup(program, io, word, next);
  if (program.commands.length === 0) return buildCliProgram(io);
  addGlobalFlags(program);
  program.hook('preAction', async (_, command) => {
    const { jq } = readGlobalFlags(command);
    if (jq !== undefined) await loadJqAndCheckFilter(jq);
  });
  return program;
}

async function addEverything(program: Command, io: CliEnvironment): Promise<void> {
  const { addApiOperationCommands } = await import('./commands/add-api-operation-commands.ts');
  for (const add of Object.values(standaloneCommands).slice(0, signInCommandCount)) await add(program, io);
  addApiOperationCommands(program, io);
  for (const [, add] of extraGroupCommands) await add(program, io);
  for (const add of Object.values(standaloneCommands).slice(signInCommandCount)) await add(program, io);
}

async function addGroup(program: Command, io: CliEnvironment, word: string, next: string | undefined): Promise<void> {
  const { addApiOperationCommands, resolveCommandGroupName: resolveGroupName } = await import('./commands/add-api-operation-commands.ts');
  const group = resolveGroupName(word);
  if (addApiOperationCommands(program, io, group, next)) return;
  for (const [name, add] of extraGroupCommands) if (name === group) await add(program, io);
}

/**
 * Number of sign-in commands at the start of `standaloneCommands`. The help lists these commands first, because most commands require a
 * sign-in.
 */
const signInCommandCount = 4;

const emptyProgram = (io: CliEnvironment): Command =>
  new Command('mandate')
    .description('Command-line client for the Mandate API: orders, products, payments and more.')
    .usage('<command>')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // Commander's own error output is suppressed, because `runCommandLine` prints all errors.
      writeErr: () => undefined,
      getOutHelpWidth: () => io.stdout.columns,
      getOutHasColors: () => false,
    })
    .version(packageJson.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .helpCommand(false)
    .addHelpText('after', examples);
