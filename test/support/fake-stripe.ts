import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

type Form = URLSearchParams;
type Intent = Record<string, unknown> & { id: string; status: string; amount: number; currency: string };
type Refused = { status: number; error: Record<string, unknown> };

/** What a payment method does. */
const methods: Record<string, Partial<Intent>> = {
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
  readonly api: { readonly host: string; readonly port: number; readonly protocol: 'http' };
  /** Everything that was asked, with its idempotency key. */
  readonly requests: { readonly method: string; readonly path: string; readonly key: string | undefined }[];
  /** The bank has done its work. */
  complete(id: string): void;
  completeRefund(id: string, status: 'succeeded' | 'failed'): void;
  /** The next requests fail on Stripe's side, before anything is done. */
  failNext(count: number): void;
  intents(): readonly Intent[];
  close(): Promise<void>;
};

/** What Stripe knows: payments and refunds, and what happens to them. */
class Books {
  readonly intents = new Map<string, Intent>();
  readonly refunds = new Map<string, Record<string, unknown>>();

  create(form: Form): Intent | Refused {
    const [amount, currency] = [Number(form.get('amount')), form.get('currency') ?? ''];
    if (!(amount >= 1) || amount > 99_999_999) return refused('amount_too_large', 'Amount must be no more than 999,999.99');
    const method = form.get('payment_method');
    if (method !== null && !(method in methods)) return refused('resource_missing', `No such PaymentMethod: '${method}'`);
    const id = `pi_${randomBytes(8).toString('hex')}`;
    const metadata = Object.fromEntries(
      [...form].flatMap(([name, value]) => (name.startsWith('metadata[') ? [[name.slice(9, -1), value]] : [])),
    );
    const begin = {
      object: 'payment_intent',
      amount,
      currency,
      metadata,
      amount_received: 0,
      client_secret: `${id}_secret`,
      next_action: null,
    };
    const chosen = methods[method ?? ''] ?? { status: 'requires_payment_method' };
    const intent: Intent = { ...begin, id, last_payment_error: null, status: '', ...chosen };
    if (intent.status === 'succeeded') intent['amount_received'] = amount;
    this.intents.set(id, intent);
    const error = intent['last_payment_error'];
    return typeof error === 'object' && error !== null ? { status: 402, error: { ...error, payment_intent: intent } } : intent;
  }

  cancel(intent: Intent): Intent | Refused {
    if (['succeeded', 'processing', 'canceled'].includes(intent.status)) {
      return refused(
        'payment_intent_unexpected_state',
        `You cannot cancel this PaymentIntent because it has a status of ${intent.status}.`,
      );
    }
    return Object.assign(intent, { status: 'canceled', next_action: null });
  }

  refund(form: Form): Record<string, unknown> | Refused {
    const intent = this.intents.get(form.get('payment_intent') ?? '');
    if (!intent) return refused('resource_missing', 'No such payment_intent');
    const before = [...this.refunds.values()].filter((one) => one['payment_intent'] === intent.id && one['status'] !== 'failed');
    const amount = Number(form.get('amount'));
    const sum = before.reduce((total, one) => total + Number(one['amount']), amount);
    if (sum > Number(intent['amount_received'])) return refused('charge_already_refunded', 'Refund amount is greater than what is left.');
    const id = `re_${randomBytes(8).toString('hex')}`;
    const status = intent['slow_refunds'] ? 'pending' : 'succeeded';
    const made = { id, object: 'refund', amount, currency: intent.currency, payment_intent: intent.id, status };
    this.refunds.set(id, made);
    return made;
  }

  route(method: string, path: string, form: Form): Record<string, unknown> | Refused {
    const [, , kind = '', id = '', action] = path.split('/');
    const found = kind === 'refunds' ? this.refunds.get(id) : this.intents.get(id);
    if (method === 'POST' && id === '') return kind === 'refunds' ? this.refund(form) : this.create(form);
    if (!found)
      return { status: 404, error: { type: 'invalid_request_error', code: 'resource_missing', message: `No such ${kind}: '${id}'` } };
    const intent = this.intents.get(id);
    return method === 'POST' && action === 'cancel' && intent ? this.cancel(intent) : found;
  }
}

type Asked = FakeStripe['requests'][number];
type Answers = Map<string, { hash: string; status: number; body: string }>;
type State = { books: Books; requests: Asked[]; failures: { left: number }; answers: Answers };

/** Stripe, as far as it is used here: it keeps what it is told, and knows a repeated request by its key. */
export async function startFakeStripe(): Promise<FakeStripe> {
  const books = new Books();
  const requests: Asked[] = [];
  const failures = { left: 0 };
  const answers: Answers = new Map();
  const server = createServer((req, res) => void handle(req, res, { books, requests, failures, answers }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    api: { host: '127.0.0.1', port: address.port, protocol: 'http' },
    requests,
    complete(id) {
      const intent = books.intents.get(id);
      if (intent)
        Object.assign(intent, { status: 'succeeded', amount_received: intent.amount, next_action: null, last_payment_error: null });
    },
    completeRefund: (id, status) =>
      void Object.assign(books.refunds.get(id) ?? {}, { status, ...(status === 'failed' && { failure_reason: 'lost_or_stolen_card' }) }),
    failNext: (count) => void (failures.left = count),
    intents: () => [...books.intents.values()],
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function handle(req: IncomingMessage, res: ServerResponse, { books, requests, failures, answers }: State): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(Buffer.from(chunk));
  const [body, path, method] = [Buffer.concat(chunks).toString(), req.url?.split('?', 1)[0] ?? '', req.method ?? ''];
  const key = req.headers['idempotency-key']?.toString();
  requests.push({ method, path, key });
  const send = (status: number, text: string): void => void res.writeHead(status, { 'content-type': 'application/json' }).end(text);
  if (failures.left > 0) {
    failures.left -= 1;
    return send(500, failure);
  }
  const hash = createHash('sha256').update(`${path}\n${body}`).digest('hex');
  const known = method === 'POST' && key !== undefined ? answers.get(key) : undefined;
  if (known && known.hash !== hash) {
    return send(400, JSON.stringify({ error: { type: 'idempotency_error', message: 'Keys can only be used with the same parameters.' } }));
  }
  // Done, but nobody learns of it, however often one call of the SDK tries.
  const unheard = body.includes('pm_lost') && requests.filter((one) => one.key === key).length <= attemptsOfSdk;
  if (known) return unheard ? send(500, failure) : send(known.status, known.body);
  const answer = books.route(method, path, new URLSearchParams(body));
  const [status, text] =
    'error' in answer ? [Number(answer['status']), JSON.stringify({ error: answer['error'] })] : [200, JSON.stringify(answer)];
  if (method === 'POST' && key !== undefined) answers.set(key, { hash, status, body: text });
  return unheard ? send(500, failure) : send(status, text);
}

const attemptsOfSdk = 3;
const failure = JSON.stringify({ error: { type: 'api_error', message: 'Something went wrong on our end.' } });

const refused = (code: string, message: string): Refused => ({ status: 400, error: { type: 'invalid_request_error', code, message } });
