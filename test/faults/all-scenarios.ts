import { clocks } from './faults/clocks.ts';
import { embedded } from './environments/embedded.ts';
import { patroni } from './faults/patroni.ts';
import { play, type Outcome, type Playing } from './run-fault.ts';
import type { Scene } from './scenario.ts';
import { smallDisk } from './faults/disk-full.ts';
import { smallDiskEmbedded } from './faults/disk-full-embedded.ts';
import { openSoak, soak } from './soak.ts';
import type { Stage } from './environments/environment.ts';
import { twoServers } from './environments/two-servers.ts';
import { withStandby } from './environments/standby.ts';

/** A fault that can be played. `missing`: why it cannot be here. */
export type Performance = {
  readonly name: string;
  readonly missing: () => string | undefined;
  readonly play: (playing: Playing) => Promise<Outcome>;
  /** Ends the stage, which all faults of a scene share. */
  readonly close: () => Promise<void>;
};

function performances<S extends Stage>({ missing, open, faults }: Scene<S>): Performance[] {
  let stage: S | undefined;
  const close = async (): Promise<void> => {
    const closing = stage;
    stage = undefined;
    await closing?.[Symbol.asyncDispose]();
  };
  return faults.map((fault) => ({
    name: fault.name,
    missing: () => missing?.(),
    async play(playing) {
      stage ??= await open();
      return play(fault, stage, playing);
    },
    close,
  }));
}

/** Every fault there is, in the order of the table. */
export const everyPerformance: readonly Performance[] = [
  ...performances(twoServers),
  ...performances(withStandby),
  ...performances(patroni),
  ...performances(smallDisk),
  ...performances(clocks),
  ...performances(embedded),
  ...performances(smallDiskEmbedded),
  {
    name: 'soak',
    missing: () => undefined,
    async play(playing) {
      await using stage = await openSoak();
      return await soak(stage, playing); // before the stage is closed
    },
    close: async () => undefined,
  },
];
