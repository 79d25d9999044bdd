import { randomUUID } from 'node:crypto';
import { orderDetailsParameter, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { obtainAuthorizationCode } from '../../support/oauth/oauth-flow.ts';
import { threeProducts } from '../cases/benchmark-cases.ts';
import type { RequestSpec, Traffic } from '../load-generator/traffic.ts';
import type { BenchmarkEnvironment } from '../servers/benchmark-environment.ts';
import { requestTokens } from '../servers/client-token.ts';
import { mapInBatches } from '../servers/signed-in-browsers.ts';
import type { Target } from '../servers/target.ts';
import { issuer, proxyHeaders, sendThroughProxy } from '../servers/tls-proxy.ts';
import type { Check } from './check.ts';
import type { Settings } from './rates.ts';
import { measureThroughput, median } from './run-load.ts';

/** Grants of each signed-in user. Orders of one grant wait for each other, so there must be many more grants than connections. */
const grantsPerUser = 16;

const limits: RequestedLimits = {
  limits: { currency: 'GBP', per_order: 1_000_000_000, per_period: 1_000_000_000_000, period: 'month' },
};

/** A function without effect that replaces the one that locks and returns the limits of a grant, so that orders are placed without limits. */
const withoutLimits = `create or replace function mandate_lock_order_limits_v2(p_grant_id text, p_client_id text) returns order_limits
  language sql as 'select null::order_limits'`;

/**
 * Begins a new period for all budgets. The check of a budget adds up the grant's orders of the period, and a customer places few orders a
 * month (1.6 on average in the orders of `npm run retail`), but a round places many.
 */
const beginNewPeriod = `update budgeted_orders set counted_at = counted_at - interval '32 days'`;

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
  const unlimited = placeOrdersTraffic(target, await obtainGrants(target, undefined));
  const cases = [
    { name: 'limits not checked', traffic: unlimited, definition: withoutLimits },
    { name: 'grants without limits', traffic: unlimited, definition: withLimits },
    { name: 'grants with limits', traffic: placeOrdersTraffic(target, await obtainGrants(target, limits)), definition: withLimits },
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
    compare('unlimited-grants', 'create an order with a grant that has no limits', withoutAny, baseline, 0.95),
    compare('limited-grants', 'create an order with a grant that has limits', limited, baseline, 0.85),
  ];
}

const compare = (name: string, title: string, rate = 0, baseline = 0, atLeast: number): Check => ({
  name,
  title: `${title}, compared with orders whose limits are not checked`,
  value: rate / Math.max(baseline, 1),
  unit: 'x',
  goal: { atLeast },
  parts: { '/s': rate, '/s, compared with': baseline },
});

/** Obtains several access tokens for each signed-in user. Every token has its own grant. */
async function obtainGrants({ website, browsers, measuredServer }: Target, details: RequestedLimits | undefined): Promise<string[]> {
  const request = {
    client_id: website.clientId,
    redirect_uri: website.redirectUri,
    scope: 'openid orders.write',
    ...(details && { authorization_details: orderDetailsParameter(details) }),
  };
  const send = sendThroughProxy(measuredServer.origin);
  const tokens = await mapInBatches(await browsers(), async (browser) => {
    const ofUser: string[] = [];
    while (ofUser.length < grantsPerUser) {
      const { code, verifier } = await obtainAuthorizationCode(issuer, { browser }, request);
      const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: website.redirectUri };
      ofUser.push((await requestTokens(send, website, form)).access_token);
    }
    return ofUser;
  });
  return tokens.flat();
}

/** Orders with a different token for each request, so that concurrent requests rarely use the same grant. */
function placeOrdersTraffic({ shop }: Target, tokens: readonly string[]): Traffic {
  let index = 0;
  const first = (): RequestSpec => {
    index += 1;
    return {
      method: 'POST',
      path: '/api/v1/orders',
      headers: {
        ...proxyHeaders,
        authorization: `Bearer ${tokens[index % tokens.length]}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({
        items: threeProducts(shop.products).map((id) => ({ product_id: id, quantity: 1 })),
        delivery: { method: 'collection', recipient_name: 'Ada Lovelace' },
      }),
    };
  };
  return { first };
}
