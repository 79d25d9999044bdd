import { exitCodes } from './exit-codes.ts';

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error whose message also tells the command's user what to do next. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
