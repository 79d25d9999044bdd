import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { findFreePort } from '../../support/network/free-port.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { pick } from '../cases/api-traffic.ts';
import { createZipfSampler } from '../cases/zipf.ts';
import type { RequestSpec } from '../load-generator/traffic.ts';
import { mapInBatches } from '../servers/customers.ts';
import { startMeasuredCommand, type MeasuredServer } from '../servers/measured-server.ts';
import { catalogueSize, customerPassword, type ComparedServer, type PeerContext } from './compared-server.ts';
import { drawDistinct } from './draw-distinct.ts';
import { installPackages, installPeer, programEnvironment, runCommand } from './install-peer.ts';
import { createPool } from './pool.ts';

const version = '3.7.3';
const path = '/shop-api';

const install = (): Promise<string> =>
  installPeer('vendure', version, (directory) => installPackages(directory, { '@vendure/core': version, pg: '8.16.3' }));

/** Starts a server and a worker, as Vendure recommends for production, with products and customers. */
export async function startComparedVendure({ createDatabase, directory, customers, opened }: PeerContext): Promise<ComparedServer> {
  const installed = await install();
  const products = join(directory, 'vendure-products.csv');
  await writeFile(products, productsCsv());
  const env = {
    NODE_ENV: 'production',
    VENDURE_DISABLE_TELEMETRY: 'true',
    VENDURE_DIRECTORY: installed,
    VENDURE_PRODUCTS: products,
    DATABASE_URL: (await createDatabase('vendure')).href,
    COOKIE_SECRET: randomUUID(),
  };
  const command = [process.execPath, join(import.meta.dirname, 'vendure-program.ts')];
  await runCommand(directory, command, { ...env, VENDURE_ROLE: 'populate', PORT: String(await findFreePort()) });
  const start = async (role: 'server' | 'worker'): Promise<MeasuredServer> => {
    const port = await findFreePort();
    const roleEnv = { ...programEnvironment, ...env, VENDURE_ROLE: role, PORT: String(port) };
    const server = await startMeasuredCommand(
      { command, env: roleEnv, port, probe: '/health', startMaxMs: 180_000 },
      join(directory, `vendure-${role}.log`),
    );
    opened.defer(() => server.stop());
    return server;
  };
  const [server, worker] = [await start('server'), await start('worker')];
  const { origin } = server;
  const variants = await waitForProducts(origin);
  const signedIn = await mapInBatches(Array.from({ length: customers }), (_, at) => signUp(origin, `user${at + 1}@example.com`));
  const drawRank = createZipfSampler(variants.length);
  const order = (token: string): Promise<string> =>
    placeOrder(
      origin,
      token,
      drawDistinct(3, () => variants[drawRank() - 1] ?? ''),
    );
  const orders = await mapInBatches(signedIn, async (token) => ({ token, code: await order(token) }));
  return {
    name: 'vendure',
    version,
    database: 'vendure',
    cpuSeconds: async () => (await server.cpuSeconds()) + (await worker.cpuSeconds()),
    operations: {
      'list-products': async () => ({
        requests: 1,
        origin,
        expected: '"sku"',
        traffic: { first: () => graphqlRequest(listProducts, { skip: 20 * Math.floor(Math.random() * 10) }) },
      }),
      'read-own-order': async () => ({
        requests: 1,
        origin,
        expected: '"lines"',
        traffic: {
          first() {
            const { token, code } = pick(orders);
            return graphqlRequest(readOrder, { code }, token);
          },
        },
      }),
      async 'place-and-pay'() {
        const pool = createPool(signedIn);
        return { requests: orderSteps.length, perform: () => pool.use(order) };
      },
    },
  };
}

function productsCsv(): string {
  const header =
    'name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets';
  const rows = Array.from({ length: catalogueSize }, (_, at) => {
    const n = at + 1;
    return `Product ${n},product-${n},Description of product ${n},,category:category-${1 + (n % 50)},,,SKU-${n},${1 + (n % 900) / 100},standard,100000000,true,,`;
  });
  return [header, ...rows].join('\n');
}

const listProducts = `query ($skip: Int!) { search(input: { take: 20, skip: $skip, groupByProduct: true }) {
  totalItems
  items { productId productName slug sku description currencyCode priceWithTax { ... on SinglePrice { value } ... on PriceRange { min max } } }
} }`;
const findVariants = `query ($skip: Int!) { search(input: { take: 100, skip: $skip, groupByProduct: false }) { totalItems items { productVariantId } } }`;
const readOrder = `query ($code: String!) { orderByCode(code: $code) {
  id code state currencyCode subTotalWithTax shippingWithTax totalWithTax orderPlacedAt
  lines { id quantity unitPriceWithTax linePriceWithTax productVariant { id sku name } }
  shippingAddress { fullName streetLine1 city postalCode countryCode }
} }`;

const orderOrError = '{ __typename ... on Order { id code state } ... on ErrorResult { errorCode message } }';
/** Checkout requests from Vendure's storefront guide, for a customer who has signed in. */
const orderSteps = [
  `mutation ($items: [AddItemInput!]!) { addItemsToOrder(inputs: $items) { order { id code state } errorResults { ... on ErrorResult { errorCode message } } } }`,
  `mutation ($address: CreateAddressInput!) { setOrderShippingAddress(input: $address) ${orderOrError} }`,
  `mutation ($method: [ID!]!) { setOrderShippingMethod(shippingMethodId: $method) ${orderOrError} }`,
  `mutation { transitionOrderToState(state: "ArrangingPayment") ${orderOrError} }`,
  `mutation { addPaymentToOrder(input: { method: "test", metadata: {} }) ${orderOrError} }`,
];
const address = { fullName: 'Ada Lovelace', streetLine1: '1 High Street', city: 'London', postalCode: 'N1 1AA', countryCode: 'GB' };

function graphqlRequest(query: string, variables: object, token?: string): RequestSpec & { readonly body: string } {
  return {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query, variables }),
  };
}

async function send(origin: string, query: string, variables: object, token?: string): Promise<{ text: string; token: string }> {
  const { method, headers, body } = graphqlRequest(query, variables, token);
  const response = await fetch(`${origin}${path}`, { method: method ?? 'POST', headers: { ...headers }, body });
  const text = await response.text();
  if (!response.ok || /"errors":|"errorCode":/.test(text))
    throw new Error(`Vendure responded to ${query} with ${response.status}: ${text}`);
  return { text, token: response.headers.get('vendure-auth-token') ?? token ?? '' };
}

const searchBody = z.object({
  data: z.object({ search: z.object({ totalItems: z.number(), items: z.array(z.object({ productVariantId: z.string() })) }) }),
});

/** Waits until the worker has added all products to the search index, and returns the IDs of their variants. */
async function waitForProducts(origin: string): Promise<readonly string[]> {
  const find = async (skip: number) => searchBody.parse(JSON.parse((await send(origin, findVariants, { skip })).text)).data.search;
  await waitUntil(async () => (await find(0)).totalItems === catalogueSize, 300_000);
  const variants: string[] = [];
  while (variants.length < catalogueSize)
    variants.push(...(await find(variants.length)).items.map(({ productVariantId }) => productVariantId));
  return variants;
}

/** Creates a customer and returns a session token. */
async function signUp(origin: string, email: string): Promise<string> {
  const account = { input: { emailAddress: email, password: customerPassword } };
  await send(origin, 'mutation ($input: RegisterCustomerInput!) { registerCustomerAccount(input: $input) { __typename } }', account);
  const login = 'mutation ($email: String!, $password: String!) { login(username: $email, password: $password) { __typename } }';
  return (await send(origin, login, { email, password: customerPassword })).token;
}

/** Places an order and pays for it. Returns the code of the order. */
async function placeOrder(origin: string, token: string, variants: readonly string[]): Promise<string> {
  const items = variants.map((productVariantId) => ({ productVariantId, quantity: 1 }));
  let last = '';
  for (const [at, step] of orderSteps.entries()) {
    const variables = [{ items }, { address }, { method: ['1'] }][at] ?? {};
    last = (await send(origin, step, variables, token)).text;
  }
  const code = /"code":"([^"]*)","state":"PaymentSettled"/.exec(last)?.[1];
  if (code === undefined) throw new Error(`Vendure did not settle the payment: ${last}`);
  return code;
}
