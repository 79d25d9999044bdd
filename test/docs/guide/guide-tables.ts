/** `npm run guide` writes the tables in the integrator's guide that are generated from the contract and the configuration. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  contract,
  defaultMaxBodyBytes,
  eventRetentionDays,
  getRouteMetadata,
  listRoutes,
  maxOrderLines,
  maxWebhookEndpoints,
  scopeDefinitions,
  scopeNames,
  testPaymentOutcomeTextsByToken,
} from '@mandate/contract';
import { maxEventWaitSeconds } from '../../../contract/resources/events/events.ts';
import { paginationParameters } from '../../../contract/schema/pagination.ts';
import { maxJsonDepth } from '../../../server/http/middleware/parse-json-body.ts';
import { maxHeaderBytes, maxUrlLength } from '../../../server/http/server/http-server.ts';
import { idempotencyRetentionSeconds } from '../../../server/http/writes/stored-idempotent-requests.ts';
import { tokenAndSessionLifetimesInSeconds } from '../../../server/oauth/protocol/token-and-session-lifetimes.ts';
import { defaultRefreshGraceSeconds } from '../../../server/oauth/refresh/default-refresh-grace.ts';
import { unpaidOrderReservationTtl } from '../../../server/orders/price-and-place-order.ts';
import { defaultRateLimits } from '../../../server/rate-limits/rate-limit-and-quota-counter.ts';
import { webhookAttemptTimeoutMs } from '../../../server/webhooks/delivery/send-webhook.ts';
import { repositoryRoot } from '../../support/markdown.ts';
import { formatOrderDiagram, orderTransitions } from './order-transitions.ts';

type Table = readonly [header: readonly string[], ...rows: readonly (readonly string[])[]];

function formatTable([header, ...rows]: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Formats a duration in the largest unit that needs no fraction: `5 minutes`, `24 hours`, `90 days`. */
export function formatDuration(seconds: number): string {
  const units = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const;
  const [name, length] = units.find(([unit, size]) => seconds % size === 0 && (unit !== 'day' || seconds > size)) ?? ['second', 1];
  const count = seconds / length;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** Returns the default and the maximum number of items on a page. */
function readPageLimits(): { byDefault: number; maximum: number } {
  const isValid = (limit: number): boolean => paginationParameters.limit.safeParse(String(limit)).success;
  const maximum = Array.from({ length: 10_000 }, (_, limit) => limit).findLast(isValid) ?? 0;
  return { byDefault: paginationParameters.limit.parse(undefined), maximum };
}

const formatCount = (count: number): string => count.toLocaleString('en-US');

const lifetimesTable = (): string => {
  const { accessToken, authorizationCode, refreshToken, grant, idToken, deviceCode } = tokenAndSessionLifetimesInSeconds;
  return formatTable([
    ['token', 'lifetime', 'notes'],
    ['access token', formatDuration(accessToken), '`expires_in` in the token response; can be used any number of times'],
    ['refresh token', `${formatDuration(refreshToken)} without use`, 'replaced by each refresh, unless it is bound to a key'],
    ['grant', formatDuration(grant), 'maximum time between two sign-ins; all tokens of the grant expire with it'],
    ['ID token', formatDuration(idToken), 'only with the scope `openid`'],
    ['authorization code', formatDuration(authorizationCode), 'can be used once'],
    ['device code', formatDuration(deviceCode), 'for devices without a browser'],
    [
      'repeated refresh',
      formatDuration(defaultRefreshGraceSeconds),
      'grace period, in which a repeated refresh returns the first response; the operator can change it for all or individual applications',
    ],
  ]);
};

/** Returns the operations that accept larger bodies than the default, grouped by the maximum size in bytes. */
const operationsWithLargerBodies = (): Map<number, string[]> => {
  const larger = listRoutes(contract).filter((route) => (getRouteMetadata(route).bodyMax ?? 0) > defaultMaxBodyBytes);
  const byMaximum = Map.groupBy(larger, (route) => getRouteMetadata(route).bodyMax ?? 0);
  return new Map([...byMaximum].map(([bytes, routes]) => [bytes, routes.map((route) => `\`${getRouteMetadata(route).operationId}\``)]));
};

const limitsTable = (): string => {
  const bodies = [...operationsWithLargerBodies()].map(([bytes, operations]): string[] => [
    `body of ${operations.join(', ')}`,
    ...(Number.isFinite(bytes)
      ? [`${formatCount(bytes)} bytes`, '413 `payload_too_large`']
      : ['unlimited, because the file is streamed', '–']),
  ]);
  const page = readPageLimits();
  const { default: perApplication, apiKey, ip, monthly } = defaultRateLimits;
  return formatTable([
    ['limit', 'value', 'if exceeded'],
    ['requests of an application for one user', `${formatCount(perApplication)} per minute`, '429 `rate_limited`'],
    ['requests with one API key', `${formatCount(apiKey)} per minute`, '429 `rate_limited`'],
    ['requests without a token from one address', `${formatCount(ip)} per minute`, '429 `rate_limited`'],
    ['requests of an application for all users', `${formatCount(monthly)} per calendar month`, '429 `quota_exceeded`'],
    ['body', `${formatCount(defaultMaxBodyBytes)} bytes`, '413 `payload_too_large`'],
    ...bodies,
    ['nesting of a body', `${maxJsonDepth} levels`, '400 `malformed_json`'],
    ['URL', `${formatCount(maxUrlLength)} characters`, '414 `uri_too_long`'],
    ['headers and URL', `${formatCount(maxHeaderBytes)} bytes`, '431 `headers_too_large`'],
    ['items on a page', `${page.maximum} (\`limit\`; default: ${page.byDefault})`, '400 `invalid_request`'],
    ['lines of an order', formatCount(maxOrderLines), '400 `invalid_request`'],
    ['retention of an idempotency key', formatDuration(idempotencyRetentionSeconds), 'the request counts as new'],
    ['reservation of an unpaid order', unpaidOrderReservationTtl, 'the order is canceled'],
    ['retention of an event', `${eventRetentionDays} days`, '410 `gone`'],
    ['maximum wait of `GET /events`', `${maxEventWaitSeconds} seconds`, 'an empty page'],
    ['webhook endpoints of a caller', String(maxWebhookEndpoints), '409 `too_many_webhook_endpoints`'],
    ['time to respond to a webhook', formatDuration(webhookAttemptTimeoutMs / 1000), 'another attempt'],
  ]);
};

const scopesTable = (): string => {
  const rows = scopeNames
    .filter((scope) => !scopeDefinitions[scope].admin)
    .map((scope) => [`\`${scope}\``, scopeDefinitions[scope].consent]);
  return formatTable([['scope', 'text on the consent page'], ...rows]);
};

const orderStates = (): string => {
  const rows = orderTransitions.map(({ from, to, cause, operations, event }) => [
    from === 'new' ? '' : `\`${from}\``,
    `\`${to}\``,
    cause,
    operations.map((operation) => `\`${operation}\``).join(', '),
    `\`${event}\``,
  ]);
  return `\`\`\`mermaid\n${formatOrderDiagram()}\n\`\`\`\n\n${formatTable([['from', 'to', 'when', 'operation', 'event'], ...rows])}`;
};

const testPaymentsTable = (): string =>
  formatTable([
    ['`method_token`', 'outcome'],
    ...Object.entries(testPaymentOutcomeTextsByToken).map(([token, outcome]) => [`\`${token}\``, outcome]),
  ]);

const sections = {
  'docs/integrator-guide/sign-in.md': { scopes: scopesTable },
  'docs/integrator-guide/tokens.md': { lifetimes: lifetimesTable },
  'docs/integrator-guide/requests.md': { limits: limitsTable },
  'docs/integrator-guide/orders.md': { 'order-states': orderStates, 'test-payments': testPaymentsTable },
} as const satisfies Record<string, Record<string, () => string>>;

export const filesWithTables: readonly string[] = Object.keys(sections);

/** Returns the text of a guide page with its current tables. */
export function replaceGuideTables(file: string, text: string): string {
  const tables = Object.entries<Record<string, () => string>>(sections).find(([name]) => name === file)?.[1] ?? {};
  return Object.entries(tables).reduce((page, [name, table]) => {
    const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
    if (!page.includes(begin) || !page.includes(end)) throw new Error(`${file} needs a line ${begin} and a line ${end}`);
    return `${page.slice(0, page.indexOf(begin))}${begin}\n\n${table()}\n\n${page.slice(page.indexOf(end))}`;
  }, text);
}

if (import.meta.main) {
  for (const file of filesWithTables) {
    const path = join(repositoryRoot, file);
    await writeFile(path, replaceGuideTables(file, await readFile(path, 'utf8')));
  }
}
