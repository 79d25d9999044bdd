/** One small change to one source file. */
export type Mutant = {
  /** Path relative to the repository root. */
  readonly file: string;
  /** First changed line, counted from 1. */
  readonly line: number;
  /** Name of the mutation operator, such as StrykerJS's `EqualityOperator`. */
  readonly operator: string;
  /** Offsets of the replaced text in the file. */
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
};
