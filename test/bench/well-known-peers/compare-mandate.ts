import { introspectionTraffic, clientCredentialsTraffic, refreshTraffic, signInTraffic } from '../cases/oauth-traffic.ts';
import { listProductsTraffic, placeAndPayTraffic, readOwnOrdersTraffic } from '../cases/api-traffic.ts';
import type { Traffic } from '../load-generator/traffic.ts';
import type { BenchmarkEnvironment } from '../servers/benchmark-environment.ts';
import type { Target } from '../servers/target.ts';
import type { ComparedServer, Operation } from './compared-server.ts';

/** Starts our server as shipped, with all protections. */
export async function startComparedMandate(environment: BenchmarkEnvironment): Promise<ComparedServer> {
  const target = await environment.target('mandate');
  const { origin, cpuSeconds } = target.measuredServer;
  const operation =
    (requests: number, expected: string, createTraffic: (target: Target) => Promise<Traffic> | Traffic) =>
    async (): Promise<Operation> => ({ requests, expected, origin, traffic: await createTraffic(target) });
  return {
    name: 'mandate',
    version: '(this commit)',
    database: new URL((await environment.postgresql()).url).pathname.slice(1),
    cpuSeconds,
    operations: {
      'client-credentials': operation(1, '"access_token"', clientCredentialsTraffic),
      refresh: operation(1, '"refresh_token"', refreshTraffic),
      introspection: operation(1, '"active":true', introspectionTraffic),
      'authorization-code': operation(2, 'code=', signInTraffic),
      'list-products': operation(1, '"sku"', listProductsTraffic),
      'read-own-order': operation(1, '"total"', readOwnOrdersTraffic),
      'place-and-pay': operation(2, '"id"', placeAndPayTraffic),
    },
  };
}
