import { CommanderError } from 'commander';
import { CommandFailure } from './errors/command-error.ts';
import { exitCodes } from './errors/exit-codes.ts';
import { commandWords } from './contract-commands/command-groups.ts';
import type { Io } from './environment.ts';
import { buildProgram } from './program.ts';
import { reportFailure } from './errors/print-error.ts';

/** Runs one command line (`argv` without the program name) and returns its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  // These two flags are read before parsing, so that usage errors are printed in the requested format too.
  const asJson = argv.includes('--json') || argv.includes('--jsonl');
  const debug = argv.includes('--debug') || io.env['MANDATE_DEBUG'] === '1';
  try {
    const program = await buildProgram(io, ...commandWords(argv));
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportFailure(io, error, asJson, debug);
    // Commander also throws for --help and --version, with exit code 0.
    if (error.exitCode === 0) return exitCodes.done;
    const [message = '', ...hints] = error.message.replace(/^error: /, '').split('\n');
    const hint = hints.join(' ').replace(/^\((.*)\)$/, '$1') || 'List every command and flag with: mandate --help';
    return reportFailure(io, new CommandFailure(exitCodes.usage, 'usage', message, { hint }), asJson, false);
  }
}
