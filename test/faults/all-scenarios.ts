import { clockScenario } from './scenarios/clock-changes.ts';
import { embeddedScenario } from './scenarios/embedded.ts';
import { patroniScenario } from './scenarios/patroni.ts';
import { runFault, type FaultOutcome, type FaultRunOptions } from './run-fault.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { diskFullScenario } from './scenarios/disk-full.ts';
import { embeddedDiskFullScenario } from './scenarios/disk-full-embedded.ts';
import { openSoak, soak } from './soak.ts';
import type { FaultEnvironment } from './environments/environment.ts';
import { twoServerScenario } from './scenarios/two-servers.ts';
import { standbyScenario } from './scenarios/standby.ts';

/** A fault with its scenario. `missing` returns the reason why this machine cannot inject the fault, or `undefined` if it can. */
export type RunnableFault = {
  readonly name: string;
  readonly missing: () => string | undefined;
  readonly run: (options: FaultRunOptions) => Promise<FaultOutcome>;
  /** Stops the environment that all faults of a scenario share. */
  readonly close: () => Promise<void>;
};

function toRunnableFaults<S extends FaultEnvironment>({ missing, open, faults }: Scenario<S>): RunnableFault[] {
  let environment: S | undefined;
  const close = async (): Promise<void> => {
    const closing = environment;
    environment = undefined;
    await closing?.[Symbol.asyncDispose]();
  };
  return faults.map((fault) => ({
    name: fault.name,
    missing: () => missing?.(),
    async run(options) {
      environment ??= await open();
      return runFault(fault, environment, options);
    },
    close,
  }));
}

/** All faults, in the order of the result table. */
export const allFaults: readonly RunnableFault[] = [
  ...toRunnableFaults(twoServerScenario),
  ...toRunnableFaults(standbyScenario),
  ...toRunnableFaults(patroniScenario),
  ...toRunnableFaults(diskFullScenario),
  ...toRunnableFaults(clockScenario),
  ...toRunnableFaults(embeddedScenario),
  ...toRunnableFaults(embeddedDiskFullScenario),
  {
    name: 'soak',
    missing: () => undefined,
    async run(options) {
      await using environment = await openSoak();
      return await soak(environment, options); // awaited here, because the environment is closed at the end of the block
    },
    close: async () => undefined,
  },
];
