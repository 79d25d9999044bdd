/** Something wrong with one value, where the person typed it. */
export type FieldFailure = { readonly flag: string; readonly path: string; readonly message: string };

/** A failure that the command itself noticed. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly fields: readonly FieldFailure[];

  constructor(
    exitCode: number,
    code: string,
    message: string,
    more: { hint?: string; fields?: readonly FieldFailure[]; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.exitCode = exitCode;
    this.code = code;
    this.hint = more.hint;
    this.fields = more.fields ?? [];
  }
}
