import { setTimeout as sleep } from 'node:timers/promises';
import { networkFaults, openChaosProxy, type NetworkFault } from '../../support/network/chaos-proxy.ts';
import type { Fault } from './scenario.ts';
import type { FaultEnvironment } from '../environments/environment.ts';

const faultMs = 2_000;

/** Every second request fails: the request is lost, or the response is lost, truncated, delayed or slow. */
export const cutCallers: Fault<FaultEnvironment> = {
  name: 'cut-callers',
  title: 'every second request lost, or its response lost, truncated, delayed or slow, for 2 s',
  async inject(environment) {
    let nth = 0;
    const chooseFault = (): NetworkFault | undefined => {
      nth += 1;
      return nth % 2 === 0 ? networkFaults[(nth / 2) % networkFaults.length] : undefined;
    };
    const proxy = await openChaosProxy(environment.loadBalancer.url, chooseFault);
    environment.clientUrl = proxy.url;
    await sleep(faultMs);
    environment.clientUrl = environment.loadBalancer.url;
    await proxy[Symbol.asyncDispose]();
    return { since: performance.now(), note: `${proxy.appliedFaults.filter((fault) => fault !== 'none').length} network faults` };
  },
};
