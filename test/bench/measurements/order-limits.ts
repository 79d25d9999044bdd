import { orderDetailsParameter, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { createOrderRequest } from '../cases/api-traffic.ts';
import { createZipfSampler } from '../cases/zipf.ts';
import type { Traffic } from '../load-generator/traffic.ts';
import type { BenchmarkEnvironment } from '../servers/benchmark-environment.ts';
import { authorizeWebsite, mapInBatches } from '../servers/customers.ts';
import type { Target } from '../servers/target.ts';
import { compareRates, type Check } from './check.ts';
import type { Settings } from './rates.ts';
import { measureThroughput, median } from './run-load.ts';

const limits: RequestedLimits = {
  limits: { currency: 'GBP', per_order: 1_000_000_000, per_period: 1_000_000_000_000, period: 'month' },
};

/**
 * SQL statement that replaces the function that locks and returns a grant's limits. The new function returns no limits, so orders are not
 * limited.
 */
const withoutLimits = `create or replace function mandate_lock_order_limits_v2(p_grant_id text, p_client_id text) returns order_limits
  language sql as 'select null::order_limits'`;

/**
 * SQL statement that starts a new period for all budgets. Otherwise, each budget check would add up all orders that the benchmark has
 * placed with the grant. A customer places few orders per month (1.6 on average in the data of `npm run retail`), but a benchmark round
 * places many.
 */
const beginNewPeriod = `update budgeted_orders set counted_at = counted_at - interval '32 days'`;

const comparedWith = 'compared with orders whose limits are not checked';

/** Compares the throughput of orders with and without limits. The baseline uses the same grants, with the check disabled. */
export async function measureOrderLimits(
  environment: BenchmarkEnvironment,
  { rounds, seconds, connections }: Settings,
  report: (progress: string) => void,
): Promise<Check[]> {
  const target = await environment.target('mandate');
  const db = await environment.database();
  const [{ definition: withLimits } = { definition: '' }] = await db.em
    .fork()
    .execute<{ definition: string }[]>(`select pg_get_functiondef('mandate_lock_order_limits_v2'::regproc) as definition`);
  report('order-limits: obtaining tokens');
  const unlimited = placeOrdersInTurn(target, await obtainTokens(target, undefined));
  const cases = [
    { name: 'limits not checked', traffic: unlimited, definition: withoutLimits },
    { name: 'grants without limits', traffic: unlimited, definition: withLimits },
    { name: 'grants with limits', traffic: placeOrdersInTurn(target, await obtainTokens(target, limits)), definition: withLimits },
  ].map((each) => ({ ...each, perSecond: new Array<number>() }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, traffic, definition, perSecond } of cases) {
      report(round === 0 ? `order-limits: warm-up, ${name}` : `order-limits: round ${round} of ${rounds}, ${name}`);
      for (const statement of [definition, beginNewPeriod]) await db.em.fork().execute(statement);
      const measured = await measureThroughput(target.measuredServer.origin, traffic, connections, seconds);
      if (measured.failed > 0) throw new Error(`order-limits: ${measured.failed} orders failed`);
      if (round > 0) perSecond.push(measured.perSecond);
    }
  }
  const [baseline, withoutAny, limited] = cases.map(({ perSecond }) => median(perSecond));
  return [
    compareRates('unlimited-grants', `create an order with a grant that has no limits, ${comparedWith}`, withoutAny, baseline, 0.95),
    compareRates('limited-grants', `create an order with a grant that has limits, ${comparedWith}`, limited, baseline, 0.85),
  ];
}

/** Obtains an access token for each customer. Every token has its own grant. */
async function obtainTokens(target: Target, details: RequestedLimits | undefined): Promise<readonly string[]> {
  const request = { scope: 'openid orders.write', ...(details && { authorization_details: orderDetailsParameter(details) }) };
  return mapInBatches(await target.browsers(), async (browser) => (await authorizeWebsite(target, browser, request)).access_token);
}

/** Places orders with a different token for each request, because orders with the same grant wait for each other. */
function placeOrdersInTurn({ shop }: Target, tokens: readonly string[]): Traffic {
  const drawProduct = createZipfSampler(shop.products);
  let index = 0;
  return { first: () => createOrderRequest(tokens[(index += 1) % tokens.length] ?? '', drawProduct) };
}
