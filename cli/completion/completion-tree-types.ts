/**
 * A command as plain data for shell completion. This data is generated in advance, so that completion does not have to build the commands.
 */
export type CompletionCommand = {
  readonly name: string;
  readonly about: string;
  /** Aliases that are accepted but not suggested. */
  readonly aliases?: readonly string[];
  readonly commands?: readonly CompletionCommand[];
  readonly flags?: readonly CompletionFlag[];
  /** The allowed values of each positional argument. A list is empty if the values are unknown. */
  readonly places?: readonly (readonly string[])[];
};

export type CompletionFlag = {
  readonly names: readonly string[];
  readonly about: string;
  /** The allowed values. Undefined if the flag takes no value, and empty if the flag takes any value. */
  readonly values?: readonly string[];
  readonly repeatable?: boolean;
};
