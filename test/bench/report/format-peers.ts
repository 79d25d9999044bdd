import type { OperationFigures } from '../measurements/well-known-peers.ts';
import type { Settings } from '../measurements/rates.ts';
import type { ComparedServerName, OperationName } from '../well-known-peers/compared-server.ts';

/** Results of `npm run bench -- --peers`. */
export type PeerComparison = {
  readonly settings: Settings & { readonly customers: number; readonly orders: number };
  readonly versions: Readonly<Partial<Record<ComparedServerName, string>>>;
  readonly figures: readonly OperationFigures[];
  /** Peers that could not be installed or started, with the reasons. */
  readonly unavailable: Readonly<Partial<Record<ComparedServerName, string>>>;
};

const titles: Readonly<Record<OperationName, string>> = {
  'client-credentials': 'client credentials',
  refresh: 'refresh a token',
  introspection: 'introspect a token',
  'authorization-code': 'authorization code, signed-in customer',
  'list-products': 'list 20 products',
  'read-own-order': 'read one of the customer’s orders',
  'place-and-pay': 'place an order with 3 lines, and pay for it',
};

/** Goals for our server's operations per CPU second, as multiples of each peer's operations per CPU second. */
export const peerGoals: Readonly<Partial<Record<ComparedServerName, number>>> = { keycloak: 5, hydra: 1, vendure: 20, medusa: 60 };

const format = (value: number): string =>
  value.toLocaleString('en', { maximumSignificantDigits: Math.abs(value) >= 1000 ? Math.ceil(Math.log10(value)) : 3 });

/** Returns the CPU time that a peer and PostgreSQL need for an operation, as a multiple of the CPU time that our server and PostgreSQL need. */
export function cpuTimeRatio({ figures }: Pick<PeerComparison, 'figures'>, peer: OperationFigures): number | undefined {
  const ours = figures.find(({ server, operation }) => server === 'mandate' && operation === peer.operation);
  return ours && (peer.serverMs + peer.databaseMs) / (ours.serverMs + ours.databaseMs);
}

/** Formats the comparison as Markdown. */
export function formatPeerComparison(comparison: PeerComparison): string {
  const { rounds, seconds, connections, customers, orders } = comparison.settings;
  const settings = `The figures are medians of ${rounds} rounds of ${seconds} s each, with ${connections} connections and ${format(customers)} customers. Our shop contains ${format(orders)} orders.`;
  const versions = Object.entries(comparison.versions).map(([name, version]) => `${name} ${version}`);
  const missing = Object.entries(comparison.unavailable).map(([name, reason]) => `- ${name} was not measured: ${reason}`);
  return [
    `${settings} Versions: ${versions.join(', ')}. Goals are in square brackets.`,
    ...(missing.length > 0 ? ['', ...missing] : []),
    '',
    '| operation | server | operations/s | requests | CPU time per operation, ms: server + PostgreSQL | SQL statements | operations per CPU second, ours : theirs | failed |',
    '|---|---|---|---|---|---|---|---|',
    ...comparison.figures.map((figures) => formatRow(comparison, figures)),
  ].join('\n');
}

function formatRow(comparison: PeerComparison, figures: OperationFigures): string {
  const { operation, server, perSecond, requests, serverMs, databaseMs, statements, failed } = figures;
  const cells = [
    titles[operation],
    server,
    format(perSecond),
    requests,
    `${format(serverMs)} + ${format(databaseMs)}`,
    format(statements),
    server === 'mandate' ? '' : formatRatio(server, cpuTimeRatio(comparison, figures)),
    failed,
  ];
  return `| ${cells.join(' | ')} |`;
}

function formatRatio(peer: ComparedServerName, ratio: number | undefined): string {
  if (ratio === undefined) return '';
  const goal = peerGoals[peer];
  const result = goal === undefined ? '' : ` [at least ${goal}: ${ratio >= goal ? 'met' : '**not met**'}]`;
  return `${format(ratio)}${result}`;
}
