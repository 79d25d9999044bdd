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
const grantsPerUser = 4;

const limits: RequestedLimits = {
  limits: { currency: 'GBP', per_order: 1_000_000_000, per_period: 1_000_000_000_000, period: 'month' },
};

/**
 * Compares the throughput of orders with and without limits. All orders are placed by signed-in users, except for the baseline: an
 * application that acts for itself has no grant, so its orders skip the check of the limits.
 */
export async function measureOrderLimits(
  environment: BenchmarkEnvironment,
  { rounds, seconds, connections }: Settings,
  report: (progress: string) => void,
): Promise<Check[]> {
  const target = await environment.target('mandate');
  report('order-limits: obtaining tokens');
  const traffics = {
    'without a grant': placeOrdersTraffic(target, [await target.token()], () => ({
      user_id: 1 + Math.floor(Math.random() * target.shop.users),
    })),
    'grants without limits': placeOrdersTraffic(target, await obtainGrants(target, undefined)),
    'grants with limits': placeOrdersTraffic(target, await obtainGrants(target, limits)),
  };
  const perSecond = { 'without a grant': [], 'grants without limits': [], 'grants with limits': [] } satisfies Record<string, number[]>;
  const names = ['without a grant', 'grants without limits', 'grants with limits'] as const;
  const measure = (name: (typeof names)[number], forSeconds: number) =>
    measureThroughput(target.measuredServer.origin, traffics[name], connections, forSeconds);
  for (const name of names) await measure(name, Math.min(1, seconds)); // warm-up
  for (let round = 1; round <= rounds; round += 1) {
    for (const name of names) {
      report(`order-limits: round ${round} of ${rounds}, ${name}`);
      const figures: number[] = perSecond[name];
      const measured = await measure(name, seconds);
      if (measured.failed > 0) throw new Error(`order-limits: ${measured.failed} orders failed`);
      figures.push(measured.perSecond);
    }
  }
  const [baseline, unlimited, limited] = names.map((name) => median(perSecond[name]));
  return [
    compare('unlimited-grants', 'create an order with a grant that has no limits, compared with no grant', unlimited, baseline, 0.95),
    compare('limited-grants', 'create an order with limits, compared with a grant that has no limits', limited, unlimited, 0.85),
  ];
}

const compare = (name: string, title: string, rate = 0, baseline = 0, atLeast: number): Check => ({
  name,
  title,
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
function placeOrdersTraffic({ shop }: Target, tokens: readonly string[], buyer: () => { readonly user_id?: number } = () => ({})): Traffic {
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
        ...buyer(),
        items: threeProducts(shop.products).map((id) => ({ product_id: id, quantity: 1 })),
        delivery: { method: 'collection', recipient_name: 'Ada Lovelace' },
      }),
    };
  };
  return { first };
}
