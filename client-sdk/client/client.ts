import { Call, type ResponseWithData } from '../core/api-call.ts';
import { createDeprecationMiddleware, printDeprecationWarning, type DeprecationNotice } from '../core/deprecation.ts';
import type { Middleware } from '../core/middleware.ts';
import { PagedCall, type Page } from '../core/paged-call.ts';
import { checkedBaseUrl, filledPath, type QueryValue } from '../core/request-url.ts';
import type { Resources, Task } from '../generated/resources.gen.ts';
import { routes } from '../generated/routes.gen.ts';
import { RetryBudget } from '../core/retry-policy.ts';
import { countPathParameters, expandRouteTable, type Route } from '../core/route-table.ts';
import { fixedToken, type Fetch, type TokenSource } from '../core/token-source.ts';
import { sendWithRetries, type ApiRequest, type SendOptions, type TransportSettings } from '../core/transport.ts';
import type { FileContent } from '../core/upload-body.ts';
import { waitForTask, type WaitOptions } from './wait-for-task.ts';

/** Client options. */
export type ClientOptions = {
  /** URL of the service, such as `https://shop.example`. */
  readonly baseUrl: string;
  /** Access token or token source. Without a token, only public operations can be called. */
  readonly auth?: TokenSource | string | undefined;
  /** Timeout of each attempt (default: 30 seconds). */
  readonly timeoutMs?: number | undefined;
  /** Time limit for a call, including all attempts and the delays between them (default: none). */
  readonly deadlineMs?: number | undefined;
  /** Maximum number of retries for requests that are safe to repeat (default: 2). */
  readonly maxRetries?: number | undefined;
  /** Maximum delay before a retry (default: 60 seconds). The call fails immediately if the service requests a delay above this maximum. */
  readonly maxRetryDelayMs?: number | undefined;
  /** Headers that are sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replacement for the global `fetch`, for example for a proxy, for logging or in tests. */
  readonly fetch?: Fetch | undefined;
  /** Called once for each deprecated operation that is used (default: prints a line with `console.warn`). */
  readonly onDeprecation?: ((notice: DeprecationNotice) => void) | undefined;
  /** Allows `http://` URLs for hosts other than this machine. Tokens are then sent to these hosts unencrypted. */
  readonly allowInsecureRequests?: boolean | undefined;
};

export type Client = Resources & {
  readonly tasks: {
    /** Waits until a task has succeeded, failed or been canceled. Tolerates short outages of the service. */
    wait(taskId: number | string, options?: WaitOptions): Promise<Task>;
  };
  /** Sends an arbitrary API request, for operations that have no method in this client. */
  readonly request: (request: ApiRequest, options?: SendOptions) => Call<unknown>;
  /** Adds middleware that wraps every attempt. The middleware that was added first sees each request first and each response last. */
  readonly use: (middleware: Middleware) => Client;
};

/** Creates a client for a Mandate installation. Every API operation is a method: `client.orders.create({ ... })`. */
export const createClient = (options: ClientOptions): Client => createClientWithRoutes(options, expandRouteTable(routes));

/**
 * Creates a client with the operations in `operationRoutes`, for example the operations of a different API version. If several routes
 * belong to the same operation, the last of them applies.
 */
export function createClientWithRoutes(options: ClientOptions, operationRoutes: readonly Route[]): Client {
  const middleware: Middleware[] = [createDeprecationMiddleware(options.onDeprecation ?? printDeprecationWarning)];
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
  for (const route of operationRoutes) (resources[route.resource] ??= {})[route.name] = createMethod(settings, route);
  const wait: Client['tasks']['wait'] = (id, waitOptions) => waitForTask(client.tasks, settings, id, waitOptions);
  const request: Client['request'] = (apiRequest, callOptions) => new Call(sendWithRetries(settings, apiRequest, callOptions));
  const use = (added: Middleware): Client => {
    middleware.push(added);
    return client;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- routes and Resources are generated from the same document
  const client = { ...resources, tasks: { ...resources['tasks'], wait }, request, use } as unknown as Client;
  return client;
}

type Method = (...args: unknown[]) => Call<unknown>;

/**
 * Creates an operation's method. The arguments of a method are the path parameters, the body and the query (if the route has them), and the
 * options.
 */
function createMethod(settings: TransportSettings, { operation, method, path, has }: Route): Method {
  const pathParameterCount = countPathParameters(path);
  return (...args) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Resources types the arguments
    const pathArguments = args.splice(0, pathParameterCount) as (string | number)[];
    const input = has('json') || has('file') ? args.shift() : undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const [query, options = {}] = [(has('query') && args.shift()) || {}, ...args] as [Query, SendOptions?];
    // Without an idempotency key, a POST request could not be retried safely. The generator checks that every POST operation accepts an
    // idempotency key.
    const sendOptions = method === 'POST' ? { ...options, idempotencyKey: options.idempotencyKey ?? newIdempotencyKey() } : options;
    const dryRun = has('dry') && { dry_run: options.dryRun || undefined };
    const sendWith = async (requestQuery: Query): Promise<ResponseWithData<unknown>> => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const content = has('file') ? { file: input as FileContent } : { body: input };
      return sendWithRetries(
        settings,
        {
          operation,
          method,
          path: filledPath(path, pathArguments),
          query: { ...requestQuery, ...dryRun },
          ...content,
          responseType: has('download') ? 'file' : undefined,
        },
        sendOptions,
      );
    };
    if (!has('paginated')) return new Call(sendWith(query));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const fetchPage = (pageQuery: Query): Promise<ResponseWithData<Page>> => sendWith(pageQuery) as Promise<ResponseWithData<Page>>;
    return new PagedCall(fetchPage(query), (cursor) => fetchPage({ ...query, cursor }));
  };
}

type Query = Record<string, QueryValue>;

/**
 * Returns a random idempotency key. `crypto.randomUUID` is not used, because browsers do not provide it on pages loaded over plain HTTP.
 */
const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
