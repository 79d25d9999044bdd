import type { Load } from '../traffic/load.ts';
import type { FaultEnvironment } from '../environments/environment.ts';

/** Context of a single fault injection. */
export type FaultContext = {
  readonly load: Load;
  /** Index of the injection, from 0. */
  readonly nth: number;
  /** Whether leases expire immediately instead of after a minute (only in tests). */
  readonly expireLeases: boolean;
};

/** `since` is the time (from `performance.now()`) after which a new write request may succeed. */
export type InjectedFault = { readonly since: number; readonly note?: string };

/** A failure that the test can cause. */
export type Fault<S extends FaultEnvironment> = {
  /** Name for `npm run faults -- --fault NAME`. */
  readonly name: string;
  /** Description in the result table. */
  readonly title: string;
  readonly inject: (environment: S, context: FaultContext) => Promise<InjectedFault>;
  /** Repairs the fault as an operator would, and waits until the repair is complete, before the next injection. */
  readonly restore?: (environment: S, context: FaultContext) => Promise<string | undefined>;
};

/** Faults that share an environment. */
export type Scenario<S extends FaultEnvironment> = {
  /** Returns the reason why this machine cannot run the scenario, or `undefined` if it can. */
  readonly missing?: () => string | undefined;
  readonly open: () => Promise<S>;
  readonly faults: readonly Fault<S>[];
};
