import { Call, type Answer } from './call.ts';
import { watchDeprecations, warnOfDeprecation, type DeprecationNotice } from './deprecation.ts';
import type { Middleware } from './middleware.ts';
import { PagedCall, type Page } from './paged-call.ts';
import { checkedBaseUrl, filledPath, type QueryValue } from './request-url.ts';
import type { Resources, Task } from '../generated/resources.gen.ts';
import { routes } from '../generated/routes.gen.ts';
import { RetryBudget } from './retry.ts';
import { fixedToken, type TokenSource } from './token-source.ts';
import { send, type ApiRequest, type Fetch, type SendOptions, type TransportSettings } from './transport.ts';
import type { FileContent } from './upload.ts';
import { waitForTask, type WaitOptions } from './wait-for-task.ts';

export type ClientOptions = {
  /** Where the service is: `https://shop.example`. */
  readonly baseUrl: string;
  /** A token, or where tokens come from; without it only what is public can be called. */
  readonly auth?: TokenSource | string | undefined;
  /** For each try; 30 seconds unless said otherwise. */
  readonly timeoutMs?: number | undefined;
  /** For all tries of a call and the waits between them together; there is no such end unless said otherwise. */
  readonly deadlineMs?: number | undefined;
  /** Tries after the first, of requests that can be repeated without harm; 2 unless said otherwise. */
  readonly maxRetries?: number | undefined;
  /** When the service asks to wait longer than this, the call fails at once; 60 seconds unless said otherwise. */
  readonly maxRetryDelayMs?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** In place of the global one: for a proxy, for a log, for tests. */
  readonly fetch?: Fetch | undefined;
  /** Told once of each operation that should not be used any more; a line of `console.warn` unless said otherwise. */
  readonly onDeprecation?: ((notice: DeprecationNotice) => void) | undefined;
  /** Allows `http://` to other machines: then tokens travel readable. */
  readonly allowInsecureRequests?: boolean | undefined;
};

export type Client = Resources & {
  readonly tasks: {
    /** Waits for the end of a task, whether it succeeds or not, also while the service is away for a moment. */
    wait(taskId: number | string, options?: WaitOptions): Promise<Task>;
  };
  /** Any request of the API, for what has no method of its own. */
  readonly request: (request: ApiRequest, options?: SendOptions) => Call<unknown>;
  /** Has every try go through `middleware`; the one that was added first sees a request first, and its answer last. */
  readonly use: (middleware: Middleware) => Client;
};

/** A client of one installation. Every operation of the API is a method: `client.orders.create({ ... })`. */
export const createClient = (options: ClientOptions): Client => clientWith(options, routes);

/** The same with the operations in `table`: of another version, say. */
export function clientWith(options: ClientOptions, table: Readonly<Record<string, string>>): Client {
  const middleware: Middleware[] = [watchDeprecations(options.onDeprecation ?? warnOfDeprecation)];
  const settings: TransportSettings = {
    middleware,
    baseUrl: checkedBaseUrl(options.baseUrl, options.allowInsecureRequests),
    auth: typeof options.auth === 'string' ? fixedToken(options.auth) : options.auth,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs: options.timeoutMs ?? 30_000,
    deadlineMs: options.deadlineMs ?? Infinity,
    budget: new RetryBudget(),
    maxRetries: options.maxRetries ?? 2,
    maxRetryDelayMs: options.maxRetryDelayMs ?? 60_000,
    headers: options.headers ?? {},
  };
  const resources: Record<string, Record<string, Method>> = {};
  for (const [operationId, route] of Object.entries(table)) {
    const [resource = '', name = ''] = operationId.split('.');
    (resources[resource] ??= {})[name] = methodOf(settings, operationId, route);
  }
  const tasks = { ...resources['tasks'], wait: (id: number | string, waiting?: WaitOptions) => waitForTask(settings, id, waiting) };
  const request: Client['request'] = (apiRequest, callOptions) => new Call(send(settings, apiRequest, callOptions));
  const use = (added: Middleware): Client => {
    middleware.push(added);
    return client;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- routes and Resources are written together from one document
  const client = { ...resources, tasks, request, use } as unknown as Client;
  return client;
}

type Method = (...args: unknown[]) => Call<unknown>;

/** A method takes the path parameters one by one, then the body and the query if the route has them, then the options. */
function methodOf(settings: TransportSettings, operation: string, route: string): Method {
  const [method = '', template = '', ...traits] = route.split(' ');
  const has = (trait: string): boolean => traits.includes(trait);
  const pathParameterCount = template.split('{').length - 1;
  return (...args) => {
    const rest = args.slice(pathParameterCount);
    const input = (has('json') || has('file')) && rest.shift();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Resources types the arguments
    const [query, options = {}] = [(has('query') && rest.shift()) || {}, ...rest] as [Query, SendOptions?];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const pathArguments = args.slice(0, pathParameterCount) as (string | number)[];
    const keyed = has('idempotent') ? { ...options, idempotencyKey: options.idempotencyKey ?? newIdempotencyKey() } : options;
    const dryRun = has('dry') && options.dryRun ? { dry_run: 'true' } : {};
    const sendWith = async (asked: Query): Promise<Answer<unknown>> => {
      const path = filledPath(template, pathArguments);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const content = has('file') ? { file: input as FileContent } : has('json') && { body: input };
      return send(
        settings,
        { operation, method, path, query: { ...asked, ...dryRun }, ...content, answer: has('download') ? 'file' : undefined },
        keyed,
      );
    };
    if (!has('paginated')) return new Call(sendWith(query));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const pageAt = (at: Query): Promise<Answer<Page>> => sendWith(at) as Promise<Answer<Page>>;
    return new PagedCall(pageAt(query), (cursor) => pageAt({ ...query, cursor }));
  };
}

type Query = Record<string, QueryValue>;

/** Not `crypto.randomUUID`, which browsers keep from pages that came over plain http. */
const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
