/** A measurement result other than a rate, and its goal. */
export type Check = {
  readonly name: string;
  readonly title: string;
  readonly value: number;
  readonly unit: 'ms' | 'MB' | 'x';
  readonly goal?: Goal;
  /** Components of the result. Each component's name starts with a unit. */
  readonly parts: Readonly<Record<string, number>>;
};

export type Goal = { readonly atMost: number } | { readonly atLeast: number };

export const isMet = (goal: Goal, value: number): boolean => ('atMost' in goal ? value <= goal.atMost : value >= goal.atLeast);

/** Compares a rate with a baseline, both in requests per second. */
export const compareRates = (name: string, title: string, rate = 0, baseline = 0, atLeast: number): Check => ({
  name,
  title,
  value: rate / Math.max(baseline, 1),
  unit: 'x',
  goal: { atLeast },
  parts: { '/s': rate, '/s, compared with': baseline },
});
