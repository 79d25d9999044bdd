import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listenOnLoopback } from './network/loopback-server.ts';

type Form = URLSearchParams;
type Intent = Record<string, unknown> & { id: string; status: string; amount: number; currency: string };
type StripeError = { status: number; error: Record<string, unknown> };

/** Initial state of a payment intent, by payment method. */
const intentStates: Record<string, Partial<Intent>> = {
  pm_ok: { status: 'succeeded' },
  pm_processing: { status: 'processing' },
  pm_lost: { status: 'succeeded' },
  pm_action: {
    status: 'requires_action',
    next_action: { type: 'redirect_to_url', redirect_to_url: { url: 'https://hooks.stripe.example/3ds', return_url: null } },
  },
  pm_declined: decline('card_declined', 'insufficient_funds'),
  pm_expired: decline('expired_card'),
};

function decline(code: string, declineCode?: string): Partial<Intent> {
  const error = { type: 'card_error', code, decline_code: declineCode, message: 'Your card was declined.' };
  return { status: 'requires_payment_method', last_payment_error: error };
}

export type FakeStripe = {
  readonly apiOptions: { readonly host: string; readonly port: number; readonly protocol: 'http' };
  /** All received requests, each with its form and its idempotency key. */
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly form: Readonly<Record<string, string>>;
    readonly key: string | undefined;
  }[];
  /** Completes a pending payment as the bank would. */
  completePayment(id: string): void;
  completeRefund(id: string, status: 'succeeded' | 'failed'): void;
  /** Makes the next `count` requests fail with status 500 and have no effect. */
  failNextRequests(count: number): void;
  listIntents(): readonly Intent[];
  close(): Promise<void>;
};

/** The fake Stripe's in-memory payments and refunds. */
class StripeState {
  readonly intents = new Map<string, Intent>();
  readonly refunds = new Map<string, Record<string, unknown>>();

  create(form: Form): Intent | StripeError {
    const [amount, currency] = [Number(form.get('amount')), form.get('currency') ?? ''];
    if (!(amount >= 1) || amount > 99_999_999) return invalidRequest('amount_too_large', 'Amount must be no more than 999,999.99');
    const method = form.get('payment_method');
    if (method !== null && !(method in intentStates)) return invalidRequest('resource_missing', `No such PaymentMethod: '${method}'`);
    if (method === null && form.get('confirm') === 'true')
      return invalidRequest('parameter_missing', 'Provide a payment method to confirm.');
    const id = `pi_${randomBytes(8).toString('hex')}`;
    const metadata = Object.fromEntries(
      [...form].flatMap(([name, value]) => (name.startsWith('metadata[') ? [[name.slice(9, -1), value]] : [])),
    );
    const initial = {
      object: 'payment_intent',
      amount,
      currency,
      metadata,
      amount_received: 0,
      client_secret: `${id}_secret`,
      next_action: null,
    };
    const state = intentStates[method ?? ''] ?? { status: 'requires_payment_method' };
    const intent: Intent = { ...initial, id, last_payment_error: null, status: '', ...state };
    if (intent.status === 'succeeded') intent['amount_received'] = amount;
    this.intents.set(id, intent);
    const error = intent['last_payment_error'];
    return typeof error === 'object' && error !== null ? { status: 402, error: { ...error, payment_intent: intent } } : intent;
  }

  cancel(intent: Intent): Intent | StripeError {
    if (['succeeded', 'processing', 'canceled'].includes(intent.status)) {
      return invalidRequest(
        'payment_intent_unexpected_state',
        `You cannot cancel this PaymentIntent because it has a status of ${intent.status}.`,
      );
    }
    return Object.assign(intent, { status: 'canceled', next_action: null });
  }

  refund(form: Form): Record<string, unknown> | StripeError {
    const intent = this.intents.get(form.get('payment_intent') ?? '');
    if (!intent) return invalidRequest('resource_missing', 'No such payment_intent');
    const refunds = [...this.refunds.values()].filter((other) => other['payment_intent'] === intent.id && other['status'] !== 'failed');
    const amount = Number(form.get('amount'));
    const sum = refunds.reduce((total, other) => total + Number(other['amount']), amount);
    if (sum > Number(intent['amount_received']))
      return invalidRequest('charge_already_refunded', 'Refund amount is greater than the remaining amount.');
    const id = `re_${randomBytes(8).toString('hex')}`;
    const status = intent['slow_refunds'] ? 'pending' : 'succeeded';
    const refund = { id, object: 'refund', amount, currency: intent.currency, payment_intent: intent.id, status };
    this.refunds.set(id, refund);
    return refund;
  }

  route(method: string, path: string, form: Form): Record<string, unknown> | StripeError {
    const [, , kind = '', id = '', action] = path.split('/');
    const resource = kind === 'refunds' ? this.refunds.get(id) : this.intents.get(id);
    if (method === 'POST' && id === '') return kind === 'refunds' ? this.refund(form) : this.create(form);
    if (!resource)
      return { status: 404, error: { type: 'invalid_request_error', code: 'resource_missing', message: `No such ${kind}: '${id}'` } };
    const intent = this.intents.get(id);
    return method === 'POST' && action === 'cancel' && intent ? this.cancel(intent) : resource;
  }
}

type StripeRequest = FakeStripe['requests'][number];
type StoredResponses = Map<string, { hash: string; status: number; body: string }>;
type ServerState = { stripeState: StripeState; requests: StripeRequest[]; failures: { left: number }; storedResponses: StoredResponses };

/** Starts an HTTP server that implements the subset of the Stripe API that Mandate uses, including idempotency keys. */
export async function startFakeStripe(): Promise<FakeStripe> {
  const stripeState = new StripeState();
  const requests: StripeRequest[] = [];
  const failures = { left: 0 };
  const storedResponses: StoredResponses = new Map();
  const server = createServer((req, res) => void handle(req, res, { stripeState, requests, failures, storedResponses }));
  const port = await listenOnLoopback(server);
  return {
    apiOptions: { host: '127.0.0.1', port: port, protocol: 'http' },
    requests,
    completePayment(id) {
      const intent = stripeState.intents.get(id);
      if (intent)
        Object.assign(intent, { status: 'succeeded', amount_received: intent.amount, next_action: null, last_payment_error: null });
    },
    completeRefund: (id, status) =>
      void Object.assign(stripeState.refunds.get(id) ?? {}, {
        status,
        ...(status === 'failed' && { failure_reason: 'lost_or_stolen_card' }),
      }),
    failNextRequests: (count) => void (failures.left = count),
    listIntents: () => [...stripeState.intents.values()],
    async close() {
      await closeServer(server);
    },
  };
}

async function handle(
  req: IncomingMessage,
  res: ServerResponse,
  { stripeState, requests, failures, storedResponses }: ServerState,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(Buffer.from(chunk));
  const [body, path, method] = [Buffer.concat(chunks).toString(), req.url?.split('?', 1)[0] ?? '', req.method ?? ''];
  const key = req.headers['idempotency-key']?.toString();
  requests.push({ method, path, form: Object.fromEntries(new URLSearchParams(body)), key });
  const send = (status: number, text: string): void => void res.writeHead(status, { 'content-type': 'application/json' }).end(text);
  if (failures.left > 0) {
    failures.left -= 1;
    return send(500, serverErrorBody);
  }
  const hash = createHash('sha256').update(`${path}\n${body}`).digest('hex');
  const stored = method === 'POST' && key !== undefined ? storedResponses.get(key) : undefined;
  if (stored && stored.hash !== hash) {
    return send(400, JSON.stringify({ error: { type: 'idempotency_error', message: 'Keys can only be used with the same parameters.' } }));
  }
  // The request takes effect, but all attempts of the first SDK call receive an error response.
  const losesResponse = body.includes('pm_lost') && requests.filter((request) => request.key === key).length <= sdkAttempts;
  if (stored) return losesResponse ? send(500, serverErrorBody) : send(stored.status, stored.body);
  const result = stripeState.route(method, path, new URLSearchParams(body));
  const [status, text] =
    'error' in result ? [Number(result['status']), JSON.stringify({ error: result['error'] })] : [200, JSON.stringify(result)];
  if (method === 'POST' && key !== undefined) storedResponses.set(key, { hash, status, body: text });
  return losesResponse ? send(500, serverErrorBody) : send(status, text);
}

const sdkAttempts = 3;
const serverErrorBody = JSON.stringify({ error: { type: 'api_error', message: 'Something went wrong on our end.' } });

const invalidRequest = (code: string, message: string): StripeError => ({
  status: 400,
  error: { type: 'invalid_request_error', code, message },
});
