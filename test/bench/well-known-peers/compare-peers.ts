import { databaseUrlOnServer, runAdminSql } from '../../support/services/postgresql-databases.ts';
import { compareOperations, createCounterReader, type OperationFigures } from '../measurements/well-known-peers.ts';
import type { PeerComparison } from '../report/format-peers.ts';
import type { BenchmarkEnvironment } from '../servers/benchmark-environment.ts';
import { startComparedMandate } from './compare-mandate.ts';
import type { ComparedServer, ComparedServerName, OperationName, PeerContext } from './compared-server.ts';
import { startComparedHydra } from './hydra.ts';
import { startComparedKeycloak } from './keycloak.ts';
import { startComparedMedusa } from './medusa.ts';
import { startComparedVendure } from './vendure.ts';

export type PeerName = Exclude<ComparedServerName, 'mandate'>;

export const startPeer: Readonly<Record<PeerName, (context: PeerContext) => Promise<ComparedServer>>> = {
  keycloak: startComparedKeycloak,
  hydra: startComparedHydra,
  vendure: startComparedVendure,
  medusa: startComparedMedusa,
};

/** Peers that perform the same operations. */
type PeerGroup = { readonly peers: readonly PeerName[]; readonly operations: readonly OperationName[] };
const groups: readonly PeerGroup[] = [
  { peers: ['keycloak', 'hydra'], operations: ['client-credentials', 'refresh', 'introspection', 'authorization-code'] },
  { peers: ['vendure', 'medusa'], operations: ['list-products', 'read-own-order', 'place-and-pay'] },
];

type Options = {
  readonly settings: PeerComparison['settings'];
  readonly isSelected: (peer: PeerName) => boolean;
  readonly report: (progress: string) => void;
};

/** Compares our server with the selected peers. Each group of peers is stopped before the next one starts. */
export async function comparePeers(environment: BenchmarkEnvironment, options: Options): Promise<PeerComparison> {
  const versions: Partial<Record<ComparedServerName, string>> = {};
  const unavailable: Partial<Record<ComparedServerName, string>> = {};
  const figures: OperationFigures[] = [];
  const countersOf = await createCounterReader(await environment.postgresql());
  for (const { peers, operations } of groups) {
    const selected = peers.filter((peer) => options.isSelected(peer));
    if (selected.length === 0) continue;
    await using opened = new AsyncDisposableStack();
    const servers = [await startComparedMandate(environment)];
    for (const peer of selected) {
      options.report(`installing and starting ${peer}`);
      try {
        servers.push(await startPeer[peer](await createContext(environment, options, opened)));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        options.report(`${peer} is not available: ${reason}`);
        unavailable[peer] = reason.split('\n', 1)[0] ?? '';
      }
    }
    for (const { name, version } of servers) versions[name] = version;
    figures.push(...(await compareOperations(servers, operations, countersOf, options.settings, options.report)));
  }
  return { settings: options.settings, versions, unavailable, figures };
}

async function createContext(environment: BenchmarkEnvironment, { settings }: Options, opened: AsyncDisposableStack): Promise<PeerContext> {
  const { url } = await environment.postgresql();
  const createDatabase = async (name: string): Promise<URL> => {
    await runAdminSql(url, `create database ${name}`);
    return new URL(databaseUrlOnServer(url, name));
  };
  return { createDatabase, directory: environment.directory, customers: settings.customers, opened };
}
