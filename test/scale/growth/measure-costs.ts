import { cases } from '../../bench/cases/benchmark-cases.ts';
import { closeSomeConnections } from '../../bench/load-generator/close-connections.ts';
import { measureThroughput } from '../../bench/measurements/run-load.ts';
import type { BenchmarkEnvironment } from '../../bench/servers/benchmark-environment.ts';

/** Cases of `npm run bench` whose costs are measured. */
export const measuredCases = ['read-own-order', 'list-own-orders', 'list-products', 'create-order', 'place-and-pay', 'refresh'] as const;

/** CPU time per request, in microseconds. */
export type Cost = { readonly server: number; readonly database: number };
export type Costs = Readonly<Record<string, Cost>>;

type Settings = { readonly seconds: number; readonly connections: number; readonly report: (progress: string) => void };

/** Measures the CPU time of the server and of PostgreSQL per request, because other programs affect CPU time less than throughput. */
export async function measureCosts(environment: BenchmarkEnvironment, { seconds, connections, report }: Settings): Promise<Costs> {
  const costs: Record<string, Cost> = {};
  const target = await environment.target('mandate');
  const cpuSeconds = async (): Promise<Cost> => ({
    server: await target.measuredServer.cpuSeconds(),
    database: (await environment.databaseCpuSeconds()) ?? Number.NaN,
  });
  for (const { name, traffic } of cases.filter((one) => (measuredCases as readonly string[]).includes(one.name))) {
    report(name);
    const run = async (duration: number): Promise<void> => {
      const requests = closeSomeConnections(await traffic(target));
      const before = await cpuSeconds();
      const { finished, failed } = await measureThroughput(target.measuredServer.origin, requests, connections, duration);
      if (failed > 0) throw new Error(`${name}: ${failed} requests failed`);
      const after = await cpuSeconds();
      const perRequest = (part: keyof Cost): number => ((after[part] - before[part]) / finished) * 1e6;
      costs[name] = { server: perRequest('server'), database: perRequest('database') };
    };
    await run(Math.min(1, seconds)); // warm-up
    await run(seconds);
  }
  return costs;
}
