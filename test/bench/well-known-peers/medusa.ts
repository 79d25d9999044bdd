import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { findFreePort } from '../../support/network/free-port.ts';
import { pick } from '../cases/api-traffic.ts';
import { createZipfSampler } from '../cases/zipf.ts';
import { mapInBatches } from '../servers/customers.ts';
import { startMeasuredCommand } from '../servers/measured-server.ts';
import { catalogueSize, customerPassword, type ComparedServer, type PeerContext } from './compared-server.ts';
import { drawDistinct } from './draw-distinct.ts';
import { installPackages, installPeer, programEnvironment, runCommand } from './install-peer.ts';
import { fillMedusa, type MedusaApi, type MedusaShop } from './medusa-shop.ts';
import { createPool } from './pool.ts';

const version = '2.21.2';

/**
 * Medusa runs without Redis here. Medusa recommends Redis if several servers share a cache, events, locks and workflows, but a single
 * server uses more CPU time with Redis.
 */
const configuration = `const { defineConfig } = require('@medusajs/framework/utils');
const { DATABASE_URL: databaseUrl, SECRET: secret } = process.env;
const http = { storeCors: 'https://shop.example', adminCors: 'https://shop.example', authCors: 'https://shop.example', jwtSecret: secret, cookieSecret: secret };
module.exports = defineConfig({
  projectConfig: { databaseUrl, databaseDriverOptions: { connection: { ssl: false } }, http },
  admin: { disable: true },
});
`;

const install = (): Promise<string> =>
  installPeer('medusa', version, async (directory) => {
    const packages = ['@medusajs/medusa', '@medusajs/framework', '@medusajs/cli'];
    await installPackages(directory, Object.fromEntries(packages.map((name) => [name, version])));
    await writeFile(join(directory, 'medusa-config.js'), configuration);
  });

/** Starts Medusa with products and customers. */
export async function startComparedMedusa({ createDatabase, directory, customers, opened }: PeerContext): Promise<ComparedServer> {
  const installed = await install();
  const env = {
    NODE_ENV: 'production',
    MEDUSA_DISABLE_TELEMETRY: 'true',
    DATABASE_URL: (await createDatabase('medusa')).href,
    SECRET: randomUUID(),
  };
  const command = [process.execPath, join(installed, 'node_modules/@medusajs/cli/cli.js')];
  const admin = { email: 'admin@example.com', password: randomUUID() };
  await runCommand(installed, [...command, 'db:migrate', '--execute-safe-links'], env);
  await runCommand(installed, [...command, 'user', '--email', admin.email, '--password', admin.password], env);
  const port = await findFreePort();
  const { origin, cpuSeconds, stop } = await startMeasuredCommand(
    {
      command: [...command, 'start', '--host', '127.0.0.1', '--port', String(port)],
      env: { ...programEnvironment, ...env },
      port,
      probe: '/health',
      workingDirectory: installed,
      startMaxMs: 180_000,
    },
    join(directory, 'medusa.log'),
  );
  opened.defer(() => stop());
  const shop = await fillMedusa(origin, admin, catalogueSize);
  const signedIn = await mapInBatches(Array.from({ length: customers }), (_, at) => signUp(shop, `user${at + 1}@example.com`));
  const drawRank = createZipfSampler(shop.variants.length);
  const order = (customer: MedusaApi): Promise<string> =>
    placeOrder(
      customer,
      shop,
      drawDistinct(3, () => shop.variants[drawRank() - 1] ?? ''),
    );
  const orders = await mapInBatches(signedIn, async (customer) => ({ customer, id: await order(customer) }));
  return {
    name: 'medusa',
    version,
    database: 'medusa',
    cpuSeconds,
    operations: {
      'list-products': async () => ({
        requests: 1,
        origin,
        expected: '"calculated_price"',
        traffic: {
          first: () => ({
            path: `/store/products?limit=20&offset=${20 * Math.floor(Math.random() * 10)}&region_id=${shop.region}&${productFields}`,
            headers: shop.store.headers,
          }),
        },
      }),
      'read-own-order': async () => ({
        requests: 1,
        origin,
        expected: '"items"',
        traffic: {
          first() {
            const { customer, id } = pick(orders);
            return { path: `/store/orders/${id}`, headers: customer.headers };
          },
        },
      }),
      async 'place-and-pay'() {
        const pool = createPool(signedIn);
        return { requests: requestsPerOrder, perform: () => pool.use(order) };
      },
    },
  };
}

const productFields = 'fields=id,title,handle,status,variants.id,variants.sku,*variants.calculated_price';

/** Creates a customer. Returns the Store API with the customer's token. */
async function signUp({ store }: MedusaShop, email: string): Promise<MedusaApi> {
  const credentials = { email, password: customerPassword };
  const token = z.object({ token: z.string() });
  const registered = token.parse(await store.post('/auth/customer/emailpass/register', credentials));
  await store.withToken(registered.token).post('/store/customers', { email, first_name: 'Ada', last_name: 'Lovelace' });
  return store.withToken(token.parse(await store.post('/auth/customer/emailpass', credentials)).token);
}

const requestsPerOrder = 5;

/** Places an order and authorizes its payment. Returns the ID of the order. */
async function placeOrder(customer: MedusaApi, { region, shippingOption }: MedusaShop, variants: readonly string[]): Promise<string> {
  const address = {
    first_name: 'Ada',
    last_name: 'Lovelace',
    address_1: '1 High Street',
    city: 'London',
    postal_code: 'N1 1AA',
    country_code: 'gb',
  };
  const items = variants.map((variant) => ({ variant_id: variant, quantity: 1 }));
  const created = await customer.post('/store/carts', { region_id: region, items, shipping_address: address, billing_address: address });
  const { cart } = z.object({ cart: z.object({ id: z.string() }) }).parse(created);
  await customer.post(`/store/carts/${cart.id}/shipping-methods`, { option_id: shippingOption });
  const collection = z
    .object({ payment_collection: z.object({ id: z.string() }) })
    .parse(await customer.post('/store/payment-collections', { cart_id: cart.id }));
  const sessions = `/store/payment-collections/${collection.payment_collection.id}/payment-sessions`;
  await customer.post(sessions, { provider_id: 'pp_system_default' });
  const completed = await customer.post(`/store/carts/${cart.id}/complete`, {});
  const parsed = z.object({ order: z.object({ id: z.string() }) }).safeParse(completed);
  if (!parsed.success) throw new Error(`Medusa did not place the order: ${JSON.stringify(completed)}`);
  return parsed.data.order.id;
}
