import { CommanderError } from 'commander';
import { isDatabaseUnreachableError } from '../database/errors/database-error-predicates.ts';
import { formatStartupError } from '../process/startup-error-message.ts';
import { CommandError } from '../process/command-error.ts';
import { exitCodes } from '../process/exit-codes.ts';
import type { StandardStreams } from './standard-streams-type.ts';
import { buildCommandLineProgram } from './build-command-line-program.ts';

/** Runs a command line (without the program name) and returns its exit code. Without arguments, starts the server. */
export async function runCommandLine(argv: readonly string[], io: StandardStreams): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = buildCommandLineProgram(io, (code) => (exitCode = code));
  try {
    await program.parseAsync(argv.length === 0 ? ['start'] : argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      const hint = isDatabaseUnreachableError(error) ? '. Is the database running, and is DATABASE_URL correct?' : '';
      io.stderr.write(`error: ${formatStartupError(error)}${hint}\n`);
      return error instanceof CommandError ? error.exitCode : exitCodes.failed;
    }
    // commander also throws an error, with exit code 0, for --help and --version
    if (error.exitCode === 0) return exitCodes.done;
    io.stderr.write(`${error.message}\nCommands and options: mandate-server --help\n`);
    return exitCodes.usage;
  }
}
