/** A figure that is not a rate: what it is, and what it should be. */
export type Check = {
  readonly name: string;
  readonly title: string;
  readonly value: number;
  readonly unit: 'ms' | 'MB' | 'x';
  readonly goal?: Goal;
  /** What it comes of, named with its unit. */
  readonly parts: Readonly<Record<string, number>>;
};

export type Goal = { readonly atMost: number } | { readonly atLeast: number };

export const isMet = (goal: Goal, value: number): boolean => ('atMost' in goal ? value <= goal.atMost : value >= goal.atLeast);
