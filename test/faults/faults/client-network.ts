import { setTimeout as sleep } from 'node:timers/promises';
import { faults, openChaosProxy, type Fault as Mishap } from '../../support/network/chaos-proxy.ts';
import type { Fault } from '../scenario.ts';
import type { Stage } from '../environments/environment.ts';

const longMs = 2_000;

/** Every other request of the callers meets a mishap on its way: lost, answered and the answer lost or cut in half, late, slow. */
export const cutCallers: Fault<Stage> = {
  name: 'cut-callers',
  title: 'every other request lost, or its answer lost, cut, late or slow, for 2 s',
  async strike(stage) {
    let nth = 0;
    const fate = (): Mishap | undefined => {
      nth += 1;
      return nth % 2 === 0 ? faults[(nth / 2) % faults.length] : undefined;
    };
    const proxy = await openChaosProxy(stage.front.url, fate);
    stage.entrance = proxy.url;
    await sleep(longMs);
    stage.entrance = stage.front.url;
    await proxy[Symbol.asyncDispose]();
    return { since: performance.now(), note: `${proxy.seen.filter((mishap) => mishap !== 'none').length} mishaps` };
  },
};
