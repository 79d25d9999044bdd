import { exitCodes } from './exit-codes.ts';

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error message for the command's user, with the next step to take. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
