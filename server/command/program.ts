import { Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import type { Io } from './io.ts';

const helpFooter = `
It is configured by environment variables, as the server is: \`mandate-server check\` says whether they are right, README.md what they are.

Exit codes: 0 done, 1 failed, 2 the command line was not understood.
`;

/** Builds the command-line program. Commands are loaded on demand. `setExitCode` receives exit codes other than 0. */
export function buildProgram(io: Io, setExitCode: (exitCode: number) => void): Command {
  const program = new Command('mandate-server')
    .description('Runs a Mandate server, and looks after its database.')
    .exitOverride()
    // errors are printed in one place, with their exit code
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => undefined })
    .version(packageJson.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print what a command does and takes')
    .helpCommand(false)
    .addHelpText('after', helpFooter);
  addServerCommands(program, io, setExitCode);
  addMaintenanceCommands(program, io);
  addBackupCommands(program, io);
  return program;
}

function addServerCommands(program: Command, io: Io, setExitCode: (exitCode: number) => void): void {
  program
    .command('start')
    .description('Start the server, as `npm start` does.')
    .action(async () => (await import('../process/run-server.ts')).runServer());
  program
    .command('check')
    .description('Say whether the configuration is right, and reach the database, Redis and the mail server.')
    .action(async () => setExitCode(await (await import('./check.ts')).check(io)));
}

function addMaintenanceCommands(program: Command, io: Io): void {
  program
    .command('migrate')
    .description('Apply the migrations that the database does not have yet; each start does it, too.')
    .option('--status', 'change nothing, and list what is applied and what is pending')
    .action(async (options: { status?: true }) => {
      const { applyMigrations, listMigrations } = await import('./migrate.ts');
      await (options.status ? listMigrations(io) : applyMigrations(io));
    });
  program
    .command('keys')
    .description('The keys that tokens are signed with.')
    .command('rotate')
    .description('Have the next keys follow before their time. Every process takes them without a restart.')
    .option('--at-once', 'for when a key has become known: what it signed is refused from now on')
    .action(async (options: { atOnce?: true }) => (await import('./rotate-keys.ts')).rotateKeys(io, options.atOnce ?? false));
  program
    .command('admin')
    .description('Those who administer the server.')
    .command('create')
    .description('Make an account that may do everything. The password is asked for, or read from standard input.')
    .requiredOption('--email <address>', 'what they sign in with')
    .option('--name <name>', 'who they are', 'Administrator')
    .action(async (options: { email: string; name: string }) =>
      (await import('./create-administrator.ts')).createAdministrator(io, options),
    );
}

function addBackupCommands(program: Command, io: Io): void {
  program
    .command('backup')
    .description('Write everything in the database to a new file, while servers go on.')
    .argument('<file>')
    .action(async (file: string) => (await import('./backup.ts')).backup(io, file));
  program
    .command('restore')
    .description('Put a backup into a new database, of either kind, and compare what arrived.')
    .argument('<file>')
    .action(async (file: string) => (await import('./restore.ts')).restore(io, file));
}
