/**
 * Runs Vendure as a server or as a worker, with the plugins from its project template that a shop needs. With the role `populate`, creates
 * the tables and the products and then exits. Vendure is installed outside the repository, so its modules have no types here.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';

const settings = z
  .object({
    VENDURE_ROLE: z.enum(['populate', 'server', 'worker']),
    VENDURE_DIRECTORY: z.string(),
    VENDURE_PRODUCTS: z.string(),
    DATABASE_URL: z.string().transform((url) => new URL(url)),
    COOKIE_SECRET: z.string(),
    PORT: z.coerce.number(),
  })
  // oxlint-disable-next-line node/no-process-env -- this process receives its settings through the environment
  .parse(process.env);
const { VENDURE_ROLE: role, DATABASE_URL: database, PORT: port, COOKIE_SECRET: secret } = settings;

const load = createRequire(join(settings.VENDURE_DIRECTORY, 'package.json'));
const vendure = load('@vendure/core');

const configuration = {
  apiOptions: { hostname: '127.0.0.1', port, adminApiPath: 'admin-api', shopApiPath: 'shop-api' },
  authOptions: {
    tokenMethod: ['bearer'],
    requireVerification: false,
    superadminCredentials: { identifier: 'superadmin', password: secret },
    cookieOptions: { secret },
  },
  dbConnectionOptions: {
    type: 'postgres',
    host: database.hostname,
    port: Number(database.port),
    username: database.username,
    password: database.password,
    database: database.pathname.slice(1),
    synchronize: role === 'populate',
    logging: false,
  },
  paymentOptions: { paymentMethodHandlers: [vendure.dummyPaymentHandler] },
  logger: new vendure.DefaultLogger({ level: vendure.LogLevel.Warn }),
  plugins: [vendure.DefaultJobQueuePlugin.init({ useDatabaseForBuffer: true }), vendure.DefaultSearchPlugin.init({ bufferUpdates: false })],
};

const initialData = {
  defaultLanguage: 'en',
  defaultZone: 'Europe',
  countries: [{ name: 'United Kingdom', code: 'GB', zone: 'Europe' }],
  taxRates: [{ name: 'Standard Tax', percentage: 20 }],
  shippingMethods: [{ name: 'Standard', price: 500 }],
  paymentMethods: [{ name: 'Test', handler: { code: 'dummy-payment-handler', arguments: [{ name: 'automaticSettle', value: 'true' }] } }],
  collections: [],
};

if (role === 'server') await vendure.bootstrap(configuration);
else if (role === 'worker') {
  const worker = await vendure.bootstrapWorker(configuration);
  await worker.startJobQueue();
  await worker.startHealthCheckServer({ hostname: '127.0.0.1', port });
} else {
  const { populate } = load('@vendure/core/cli');
  const app = await populate(() => vendure.bootstrap(configuration), initialData, settings.VENDURE_PRODUCTS);
  // starts one job for all products, because the worker would process one job per product at a rate of only five per second
  await app.get(vendure.TransactionalConnection).rawConnection.query('delete from job_record');
  await app.get(vendure.SearchService).reindex(await app.get(vendure.RequestContextService).create({ apiType: 'admin' }));
  await app.close();
  process.exit(0); // the job queue keeps its timers even after the application is closed
}
