import { Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import type { StandardStreams } from './standard-streams-type.ts';

const helpFooter = `
It is configured by the same environment variables as the server. docs/configuration.md lists them, and \`mandate-server check\` verifies them.

Exit codes: 0 done, 1 failed, 2 invalid command line.
`;

/** Builds the command-line program. Commands are loaded on demand. `setExitCode` is called only with exit codes other than 0. */
export function buildCommandLineProgram(io: StandardStreams, setExitCode: (exitCode: number) => void): Command {
  const program = new Command('mandate-server')
    .description('Runs a Mandate server and maintains its database. Without a command, it starts the server.')
    .exitOverride()
    // errors are not printed here, because runCommandLine prints each error and returns its exit code
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => undefined })
    .version(packageJson.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help for a command')
    .helpCommand(false)
    .addHelpText('after', helpFooter);
  addServerCommands(program, io, setExitCode);
  addMaintenanceCommands(program, io);
  addBackupCommands(program, io);
  return program;
}

function addServerCommands(program: Command, io: StandardStreams, setExitCode: (exitCode: number) => void): void {
  program
    .command('start')
    .description('Start the server. This is the default command.')
    .action(async () => (await import('../process/run-server.ts')).runServer());
  program
    .command('check')
    .description('Check the configuration and the connections to the database, Redis and the mail server.')
    .action(async () => setExitCode(await (await import('./check-command.ts')).runCheckCommand(io)));
}

function addMaintenanceCommands(program: Command, io: StandardStreams): void {
  program
    .command('migrate')
    .description('Apply pending migrations; the server also does this at each start.')
    .option('--status', 'list applied and pending migrations without changing anything')
    .action(async (options: { status?: true }) => {
      const { runMigrateCommand: applyMigrations, printMigrationStatus: listMigrations } = await import('./migrate-command.ts');
      await (options.status ? listMigrations(io) : applyMigrations(io));
    });
  program
    .command('keys')
    .description('Manage the keys that sign tokens.')
    .command('rotate')
    .description('Rotate the signing keys before their scheduled time. All processes switch without a restart.')
    .option('--at-once', 'for a leaked key: from now on, reject everything that it has signed')
    .action(async (options: { atOnce?: true }) =>
      (await import('./rotate-signing-keys-command.ts')).runRotateSigningKeysCommand(io, options.atOnce ?? false),
    );
  program
    .command('statistics')
    .description('Maintain the statistics.')
    .command('rebuild')
    .description('Recalculate the order statistics from the orders. Servers can keep running.')
    .action(async () => (await import('./rebuild-statistics-command.ts')).runRebuildStatisticsCommand(io));
  program
    .command('admin')
    .description('Manage administrators.')
    .command('create')
    .description('Create an administrator account. The password is prompted for, or read from standard input.')
    .requiredOption('--email <address>', 'e-mail address for sign-in')
    .option('--name <name>', 'name of the administrator', 'Administrator')
    .action(async (options: { email: string; name: string }) =>
      (await import('./create-administrator-command.ts')).runCreateAdministratorCommand(io, options),
    );
}

function addBackupCommands(program: Command, io: StandardStreams): void {
  program
    .command('backup')
    .description('Write the whole database to a new file while servers keep running.')
    .argument('<file>')
    .action(async (file: string) => (await import('./backup-command.ts')).runBackupCommand(io, file));
  program
    .command('restore')
    .description('Restore a backup into a new database of either kind and verify the result.')
    .argument('<file>')
    .action(async (file: string) => (await import('./restore-command.ts')).runRestoreCommand(io, file));
}
