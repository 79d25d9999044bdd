import { createHash, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import { pick, readOwnOrder, readOwnOrdersTraffic } from '../cases/api-traffic.ts';
import type { Traffic } from '../load-generator/traffic.ts';
import { authorizeWebsite, mapInBatches } from '../servers/customers.ts';
import type { BenchmarkEnvironment } from '../servers/benchmark-environment.ts';
import type { Customer, Target } from '../servers/target.ts';
import { issuer, proxyHeaders } from '../servers/tls-proxy.ts';
import { compareRates, type Check } from './check.ts';
import type { Settings } from './rates.ts';
import { measureThroughput, median } from './run-load.ts';

/** Requests per second for which proofs are created in advance. The server accepts each proof once. */
const proofsPerSecond = 15_000;

/** Compares the throughput of reads with DPoP-bound tokens and with bearer tokens of the same customers. */
export async function measureDpop(
  environment: BenchmarkEnvironment,
  { rounds, seconds, connections }: Settings,
  report: (progress: string) => void,
): Promise<Check[]> {
  const target = await environment.target('mandate');
  const traffic = { bearer: () => readOwnOrdersTraffic(target), dpop: () => readWithProofsTraffic(target) };
  const perSecond: Record<keyof typeof traffic, number[]> = { bearer: [], dpop: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of ['bearer', 'dpop'] as const) {
      report(round === 0 ? `dpop: warm-up, ${kind}` : `dpop: round ${round} of ${rounds}, ${kind}`);
      const measured = await measureThroughput(target.measuredServer.origin, await traffic[kind](), connections, seconds);
      if (measured.failed > 0) throw new Error(`dpop: ${measured.failed} reads with ${kind} tokens failed`);
      if (round > 0) perSecond[kind].push(measured.perSecond);
    }
  }
  const title = 'read one of the customer’s orders with a DPoP-bound token, compared with a bearer token';
  return [compareRates('dpop', title, median(perSecond.dpop), median(perSecond.bearer), 0.7)];
}

type KeyHolder = Customer & { readonly key: DpopKey };

/** Read requests with DPoP-bound tokens. Every customer has a separate key, and every request has a new proof. */
async function readWithProofsTraffic(target: Target): Promise<Traffic> {
  const holders = await mapInBatches(await target.browsers(), async (browser, at): Promise<KeyHolder> => {
    const key = createKey();
    const proof = createProof(key, 'POST', `${issuer}/oauth/token`);
    const { access_token: token } = await authorizeWebsite(target, browser, { scope: 'openid orders.read' }, { dpop: proof });
    return { userId: at + 1, token, key };
  });
  return {
    first() {
      const { key, ...customer } = pick(holders);
      const { path } = readOwnOrder(customer, target);
      const proof = createProof(key, 'GET', `${issuer}${path}`, customer.token);
      return { path, headers: { ...proxyHeaders, authorization: `DPoP ${customer.token}`, dpop: proof } };
    },
    neverRepeatedUpTo: proofsPerSecond,
  };
}

type DpopKey = { readonly privateKey: KeyObject; readonly encodedHeader: string };

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function createKey(): DpopKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, encodedHeader: encode({ typ: 'dpop+jwt', alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) }) };
}

/** Creates a DPoP proof (RFC 9449 section 4.2) synchronously, because tens of thousands are created before each round. */
function createProof({ privateKey, encodedHeader }: DpopKey, method: string, url: string, token?: string): string {
  const claims = {
    jti: randomUUID(),
    htm: method,
    htu: url,
    iat: Math.floor(Date.now() / 1000),
    ...(token !== undefined && { ath: createHash('sha256').update(token).digest('base64url') }),
  };
  const input = `${encodedHeader}.${encode(claims)}`;
  return `${input}.${sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
