import { CommanderError } from 'commander';
import { CommandError } from './errors/command-error.ts';
import { exitCodes } from './errors/exit-codes.ts';
import { commandWordsFromArgv } from './contract-commands/command-words-from-argv.ts';
import type { CliEnvironment } from './environment/cli-environment-type.ts';
import { buildCliProgram } from './build-cli-program.ts';
import { printErrorAndReturnExitCode } from './output/print-error.ts';

/** Runs one command line (`argv` without the program name) and returns its exit code. */
export async function runCommandLine(argv: readonly string[], io: CliEnvironment): Promise<number> {
  // The output flags are read before the command line is parsed, so that usage errors are also printed in the requested format.
  const asJson = argv.includes('--json') || argv.includes('--jsonl');
  const debug = argv.includes('--debug') || io.env['MANDATE_DEBUG'] === '1';
  try {
    const program = await buildCliProgram(io, ...commandWordsFromArgv(argv));
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
    return exitCodes.success;
  } catch (error) {
    if (!(error instanceof CommanderError)) return printErrorAndReturnExitCode(io, error, asJson, debug);
    // Commander also throws for --help and --version, with exit code 0.
    if (error.exitCode === 0) return exitCodes.success;
    const [message = '', ...hints] = error.message.replace(/^error: /, '').split('\n');
    const hint = hints.join(' ').replace(/^\((.*)\)$/, '$1') || 'List every command and flag with: mandate --help';
    return printErrorAndReturnExitCode(io, new CommandError(exitCodes.usage, 'usage', message, { hint }), asJson, false);
  }
}
