import { AuthorizationError, ApiError, createClient, SignInRequiredError, type Client } from '@mandate/client-sdk';
import { createServerSignIn, type ServerSession } from '@mandate/client-sdk/server';
import { Hono, type Context } from 'hono';
import { errorPage, orderPage, ordersPage, productsPage, type Page, type SignedInCustomer } from './pages.ts';
import { stylesheetText } from './style.ts';

export type BffConfig = {
  /** URL of the order service. */
  readonly serviceUrl: string;
  /** URL of this application, as users see it. */
  readonly appUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly cookieSecrets: readonly string[];
};

/** Scopes that the first sign-in requests. The scope for placing orders is requested when the customer first places an order. */
const initialScopes = ['offline_access', 'users.read', 'orders.read'];
const orderingScopes = [...initialScopes, 'orders.write'];

type Variables = { session: ServerSession; mandate: Client };
type BffContext = Context<{ Variables: Variables }>;

export function createBff({ serviceUrl, appUrl, ...credentials }: BffConfig): Hono<{ Variables: Variables }> {
  const redirectUri = `${appUrl}/auth/callback`;
  const signIn = createServerSignIn({ issuer: serviceUrl, redirectUri, scopes: initialScopes, ...credentials });
  const app = new Hono<{ Variables: Variables }>();

  app.use(async (context, next) => {
    await next();
    context.header(
      'content-security-policy',
      "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
    );
    context.header('x-content-type-options', 'nosniff');
  });
  app.get('/style.css', (context) => context.body(stylesheetText, 200, { 'content-type': 'text/css' }));
  app.get('/auth/sign-in', (context) => signIn.startSignIn(context.req.raw));
  app.get('/auth/allow-orders', (context) => signIn.startSignIn(context.req.raw, { scopes: orderingScopes }));
  app.get('/auth/callback', (context) => signIn.completeSignIn(context.req.raw));
  app.post('/auth/sign-out', (context) => signIn.signOut(context.req.raw));

  app.use(async (context, next) => {
    const rejection = signIn.rejectCrossSiteRequest(context.req.raw);
    if (rejection) return rejection;
    const session = await signIn.openSession(context.req.raw);
    context.set('session', session);
    context.set('mandate', createClient({ baseUrl: serviceUrl, ...(session.signedIn && { auth: session.auth }) }));
    await next();
    context.res = await session.addCookie(context.res);
    return undefined;
  });
  addShopRoutes(app);
  app.onError((error, context) => {
    if (error instanceof SignInRequiredError) return context.redirect('/auth/sign-in', 303);
    return render(context, errorPage(error), statusOfError(error));
  });
  app.notFound((context) => render(context, errorPage(undefined), 404));
  return app;
}

function addShopRoutes(app: Hono<{ Variables: Variables }>): void {
  app.get('/', async (context) => {
    const search = context.req.query('q') ?? '';
    const query = { status: ['active' as const], limit: 24, ...(search !== '' && { q: search }) };
    const products = await context.var.mandate.products.list(query);
    return render(context, productsPage(products.data, search, await readVisitor(context)));
  });
  app.use('/orders/*', (context, next) => requireSignIn(context, next));
  app.get('/orders', async (context) => {
    const orders = await context.var.mandate.orders.list({ limit: 20 });
    return render(context, ordersPage(orders.data, await readVisitor(context)));
  });
  app.get('/orders/:id', async (context) => {
    const order = await context.var.mandate.orders.get(context.req.param('id'));
    return render(context, orderPage(order, await readVisitor(context)));
  });
  app.post('/orders', async (context) => {
    if (!context.var.session.scopes.includes('orders.write')) return context.redirect('/auth/allow-orders?return_to=/', 303);
    const form = new URLSearchParams(await context.req.text());
    const order = await context.var.mandate.orders.create(
      {
        items: [{ product_id: Number(form.get('product_id')), quantity: Number(form.get('quantity')) }],
        delivery: { method: 'collection', recipient_name: 'Collected in the shop' },
      },
      // Submitting the same form again does not place a second order.
      { idempotencyKey: form.get('key') ?? undefined },
    );
    return context.redirect(`/orders/${order.id}`, 303);
  });
}

async function requireSignIn(context: BffContext, next: () => Promise<void>): Promise<Response | undefined> {
  if (!context.var.session.signedIn) {
    const returnTo = context.req.method === 'GET' ? context.req.path : '/';
    return context.redirect(`/auth/sign-in?return_to=${encodeURIComponent(returnTo)}`, 303);
  }
  await next();
  return undefined;
}

async function readVisitor({ var: { session, mandate } }: BffContext): Promise<SignedInCustomer | undefined> {
  if (!session.signedIn) return undefined;
  const { name } = await mandate.users.me();
  return { name, mayOrder: session.scopes.includes('orders.write') };
}

const render = (context: BffContext, page: Page, status: 200 | 400 | 403 | 404 | 409 | 422 | 500 = 200): Response | Promise<Response> =>
  context.html(page, status);

function statusOfError(error: Error): 400 | 403 | 404 | 409 | 422 | 500 {
  if (error instanceof AuthorizationError) return 400;
  const status = error instanceof ApiError ? error.status : 500;
  return status === 403 || status === 404 || status === 409 || status === 422 ? status : 500;
}
