/** An invalid value, and the flag or argument that contains the value. */
export type FieldError = { readonly flag: string; readonly path: string; readonly message: string };

/** An error that the command-line client detects itself, with the exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly fields: readonly FieldError[];

  constructor(
    exitCode: number,
    code: string,
    message: string,
    options: { hint?: string; fields?: readonly FieldError[]; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.exitCode = exitCode;
    this.code = code;
    this.hint = options.hint;
    this.fields = options.fields ?? [];
  }
}
