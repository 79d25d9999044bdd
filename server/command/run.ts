import { CommanderError } from 'commander';
import { isDatabaseAway } from '../database/errors/availability-errors.ts';
import { explainFailure } from '../process/startup-error-message.ts';
import { CommandFailure } from '../process/command-failure.ts';
import { exitCodes } from '../process/exit-codes.ts';
import type { Io } from './io.ts';
import { buildProgram } from './program.ts';

/** Runs a command line (without the program name) and returns its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = buildProgram(io, (code) => (exitCode = code));
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      const hint = isDatabaseAway(error) ? '. Does the database run, and is DATABASE_URL right?' : '';
      io.stderr.write(`error: ${explainFailure(error)}${hint}\n`);
      return error instanceof CommandFailure ? error.exitCode : exitCodes.failed;
    }
    // --help and --version throw, too
    if (error.exitCode === 0) return exitCodes.done;
    io.stderr.write(`${error.message}\nCommands and options: mandate-server --help\n`);
    return exitCodes.usage;
  }
}
