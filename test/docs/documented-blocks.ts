import { guidePages } from './guide/guide-pages.ts';

/**
 * Exceptions for individual code blocks in the documents, keyed by file and the block's first line. The test checks every command in an
 * unlisted block, so blocks that run other projects' programs must be listed here.
 */

/** Documents whose code blocks `integrator-guide.test.ts`, `python-package.test.ts` or `assistant-session.test.ts` compares or runs. */
export const executedDocuments: readonly string[] = [...guidePages, 'clients/python/README.md', 'docs/assistants/recorded-session.md'];

/** Blocks that another test runs, or whose steps another test performs. */
export const runElsewhere: Readonly<Record<string, string>> = {
  'README.md: npm ci && npm start': 'test/first-order/main.ts',
  'README.md: npx mandate login': 'test/first-order/first-order.test.ts',
  'README.md: field() { node -p "JSON.parse(require(\'fs\').readFileSync(0)).$1"; }': 'test/first-order/first-order.test.ts',
  'docs/first-order.md: git clone REPOSITORY mandate && cd mandate': 'test/first-order/main.ts',
  'examples/storefront/README.md: npx mandate login --profile admin --scopes applications.manage': 'test/first-order/first-order.test.ts',
  'server/README.md: npx @mandate/server': 'test/package/installed-server.test.ts',
  'examples/bff/README.md: export CLIENT_SECRET=THE_SECRET COOKIE_SECRETS="$(head -c 32 /dev/urandom | base64)"': 'test/e2e/bff.test.ts',
  'docs/moving-your-shop.md: mandate login --scopes +users.administer,+users.manage,+orders.manage,+products.write,+tasks.read,+tasks.write':
    'test/docs/moving-your-shop.test.ts',
  'docs/moving-your-shop.md: mandate users import medusa-customers.csv --source medusa --external-id-column id --name-column name --password-hash-column password':
    'test/docs/moving-your-shop.test.ts',
  'docs/moving-your-shop.md: mandate users import woocommerce-customers.csv --source woocommerce --external-id-column ID --email-column user_email --name-column display_name --password-hash-column user_pass':
    'test/docs/moving-your-shop.test.ts',
  'docs/moving-your-shop.md: mandate users import shopify-customers.csv --source shopify --external-id-column "Customer ID" --email-column Email --given-name-column "First Name" --family-name-column "Last Name" --emails-verified':
    'test/docs/moving-your-shop.test.ts',
  'docs/moving-your-shop.md: mandate users import magento-customers.csv --source magento --given-name-column firstname --family-name-column lastname':
    'test/docs/moving-your-shop.test.ts',
  'docs/moving-your-shop.md: mandate users export --output users.csv': 'test/docs/moving-your-shop.test.ts',
  'docs/backup.md: npx mandate-server backup shop-2026-11-21.backup     # while servers run': 'test/command/backup.test.ts',
  'docs/backup.md: kill -TERM SERVER_PID                                 # no orders are accepted from now on':
    'test/command/backup.test.ts',
};

/** Code blocks that no test runs, each with the reason. The syntax of these blocks and the existence of their files are checked. */
export const notRun: Readonly<Record<string, string>> = {
  'ARCHITECTURE.md: flowchart TD': 'a diagram',
  'docs/operations.md: psql postgres://postgres@10.0.0.20:5000/postgres --command "create role mandate login password \'MANDATE_PASSWORD\'"':
    'needs the example cluster; test/faults/tests/patroni.test.ts starts one with the example files',
  'docs/operations.md: DATABASE_URL=postgres://mandate:PASSWORD@10.0.0.20:6432/mandate':
    'needs the example cluster; test/faults/tests/patroni.test.ts starts one with the example files',
  'deploy/README.md: docker build --file deploy/Dockerfile --tag mandate .':
    'needs a container engine; test/deploy/image.test.ts executes the Dockerfile',
  'deploy/README.md: deploy/compose/make-secrets': 'needs a container engine; test/deploy/deploy-files.test.ts checks the compose file',
  'deploy/README.md: kubectl create namespace mandate': 'needs a cluster; test/deploy/deploy-files.test.ts checks the manifests',
  'deploy/README.md: install --directory /etc/mandate --mode 0700':
    'needs root and systemd; test/deploy/deploy-files.test.ts checks the unit',
  "docs/moving-your-shop.md: psql medusa --command \"\\copy (select c.id, c.email, coalesce(nullif(trim(concat_ws(' ', c.first_name, c.last_name)), ''), split_part(c.email, '@', 1)) as name, (select p.provider_metadata ->> 'password' from auth_identity a join provider_identity p on p.auth_identity_id = a.id where a.app_metadata ->> 'customer_id' = c.id and p.provider = 'emailpass' and p.deleted_at is null limit 1) as password from customer c where c.has_account and c.deleted_at is null) to medusa-customers.csv csv header\"":
    'needs a database of the other system',
  'docs/moving-your-shop.md: wp user list --role=customer --fields=ID,user_email,display_name,user_pass --format=csv > woocommerce-customers.csv':
    'needs a database of the other system',
  "docs/moving-your-shop.md: mysql --batch --raw --default-character-set=utf8mb4 --init-command \"set time_zone = '+00:00'\" magento --execute \"select o.increment_id, o.created_at, o.customer_email, o.order_currency_code, coalesce(o.shipping_incl_tax, 0) as shipping_incl_tax, abs(coalesce(o.discount_amount, 0)) as discount_amount, concat('\\\"', replace(i.sku, '\\\"', '\\\"\\\"'), '\\\"') as sku, concat('\\\"', replace(i.name, '\\\"', '\\\"\\\"'), '\\\"') as name, round(i.qty_ordered) as qty_ordered, coalesce(i.price_incl_tax, i.price) as price_incl_tax, round(coalesce(i.tax_percent, 0) * 100) as tax_rate_bps from sales_order o join sales_order_item i on i.order_id = o.entity_id where i.parent_item_id is null and o.state = 'complete' order by o.entity_id\" | tr '\\t' ',' > magento-orders.csv":
    'needs a database of the other system',
  'docs/clients.md: claude mcp add --transport http shop https://shop.example/mcp':
    'needs an account for a language model; test/peers/mcp-sign-in signs in with the metadata of the program',
  'docs/clients.md: apt-get install --no-install-recommends default-jdk-headless maven golang-go cargo python3-venv':
    'installs compilers; `npm run clients:generated` is the test',
};

/** Declarations that TypeScript code blocks in the documents omit. */
export const preludes: Readonly<Record<string, string>> = {
  "client-sdk/README.md: import { createClient, formatMoney } from '@mandate/client-sdk';":
    'declare const clientId: string, clientSecret: string;',
  'client-sdk/README.md: const result = await mandate.orders.create(input).safe();': `
    import type { Client, OrderCreate } from '@mandate/client-sdk';
    declare const mandate: Client, input: OrderCreate;`,
  'client-sdk/README.md: const proofKey = await newProofKey({ extractable: true });': `
    import { discover, exportProofKey, importProofKey, newProofKey, refreshingTokens, type TokenStore } from '@mandate/client-sdk/authorization';
    import { signInOnLoopback } from '@mandate/client-sdk/authorization/node';
    declare const issuer: string, clientId: string, scopes: string[], store: TokenStore, open: (url: string) => Promise<void>;`,
  "client-sdk/README.md: const privateKey = await importClientKey(pem, 'ES256'); // or 'PS256', 'EdDSA'": `
    import { createClient } from '@mandate/client-sdk';
    import { clientCredentials } from '@mandate/client-sdk/authorization';
    import { importClientKey, privateKeyJwt } from '@mandate/client-sdk/private-key-jwt';
    declare const issuer: string, clientId: string, pem: string;`,
  "client-sdk/README.md: const signIn = browserSignIn({ issuer, clientId, redirectUri: 'https://app.example/', scopes: ['offline_access', 'orders.read'] });": `
    import { createClient } from '@mandate/client-sdk';
    import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
    declare const issuer: string, clientId: string, button: { onclick: () => unknown }, render: (signedIn: boolean) => void;`,
  "docs/clients.md: import { createServerSignIn } from '@mandate/client-sdk/server';":
    'declare const clientId: string, clientSecret: string, redirectUri: string, scopes: string[], cookieSecrets: string[];',
  'client-sdk/README.md: const signIn = createServerSignIn({': `
    import { createClient } from '@mandate/client-sdk';
    import { createServerSignIn } from '@mandate/client-sdk/server';
    declare const clientId: string, clientSecret: string, cookieSecrets: string[];`,
  'client-sdk/README.md: export const Shop = () => createElement(MandateProvider, { client: mandate, signIn }, createElement(Account));': `
    import { createElement } from 'react';
    import type { Client } from '@mandate/client-sdk';
    import type { BrowserSignIn } from '@mandate/client-sdk/authorization/browser';
    import { MandateProvider, useSession } from '@mandate/client-sdk/react';
    declare const mandate: Client, signIn: BrowserSignIn;`,
  'client-sdk/README.md: const server = setupServer(': `
    import { setupServer } from 'msw/node';
    import { createMockData, createMockHandlers, createMockProblem } from '@mandate/client-sdk/mocks';`,
};
