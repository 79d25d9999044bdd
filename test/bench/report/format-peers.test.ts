import { expect, test } from 'vitest';
import type { OperationFigures } from '../measurements/well-known-peers.ts';
import type { ComparedServerName } from '../well-known-peers/compared-server.ts';
import { formatPeerComparison } from './format-peers.ts';

const figures = (server: ComparedServerName, serverMs: number, databaseMs: number): OperationFigures => ({
  operation: 'refresh',
  server,
  requests: 1,
  perSecond: 1234.5,
  serverMs,
  databaseMs,
  statements: 2.5,
  failed: 0,
});

test('compares the CPU time of server and database with ours, and names the peers that are missing', () => {
  const table = formatPeerComparison({
    settings: { rounds: 3, seconds: 5, connections: 32, customers: 1000, orders: 200_000 },
    versions: { mandate: '(this commit)', keycloak: '26.7.3', hydra: '2.3.0' },
    unavailable: { medusa: 'npm does not respond' },
    figures: [figures('mandate', 0.75, 0.25), figures('keycloak', 4, 2), figures('hydra', 0.5, 0.4)],
  });
  expect(table).toContain('- medusa was not measured: npm does not respond');
  expect(table).toContain('| refresh a token | mandate | 1,235 | 1 | 0.75 + 0.25 | 2.5 |  | 0 |');
  expect(table).toContain('| 4 + 2 | 2.5 | 6 [at least 5: met] | 0 |');
  expect(table).toContain('| 0.5 + 0.4 | 2.5 | 0.9 [at least 1: **not met**] | 0 |');
});
