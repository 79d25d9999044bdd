import type { Load } from './traffic/load.ts';
import type { Stage } from './environments/environment.ts';

/** One time that a fault happens. */
export type Occasion = {
  readonly load: Load;
  /** Counted from 0. */
  readonly nth: number;
  /** For a test: what waits for a lease of a minute to end is helped along. */
  readonly hurry: boolean;
};

/** `since`: the moment (`performance.now()`) from which a write that begins may succeed. */
export type Struck = { readonly since: number; readonly note?: string };

/** Something that goes wrong, and can be made to. */
export type Fault<S extends Stage> = {
  /** As in `npm run faults -- --fault NAME`. */
  readonly name: string;
  /** What it is, for the table. */
  readonly title: string;
  readonly strike: (stage: S, occasion: Occasion) => Promise<Struck>;
  /** Waits for what takes longer than the first success, and puts right what an operator would, before it happens again. */
  readonly afterwards?: (stage: S, occasion: Occasion) => Promise<string | undefined>;
};

/** Faults that happen to the same servers. */
export type Scene<S extends Stage> = {
  /** Why it cannot be played on this machine, if it cannot. */
  readonly missing?: () => string | undefined;
  readonly open: () => Promise<S>;
  readonly faults: readonly Fault<S>[];
};
