import { exitCodes } from './exit-codes.ts';

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What went wrong, and what to do next, in words for whoever typed the command. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
