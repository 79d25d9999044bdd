/** A command as completion knows it: plain data, written when the commands are generated, so that no TAB waits for them to be built. */
export type CompletionCommand = {
  readonly name: string;
  readonly about: string;
  /** Other names that are understood, but not offered. */
  readonly aliases?: readonly string[];
  readonly commands?: readonly CompletionCommand[];
  readonly flags?: readonly CompletionFlag[];
  /** What can stand at each place, where that is known. */
  readonly places?: readonly (readonly string[])[];
};

export type CompletionFlag = {
  readonly names: readonly string[];
  readonly about: string;
  /** Without it, the flag takes no value; empty, it takes any. */
  readonly values?: readonly string[];
  readonly repeatable?: boolean;
};
