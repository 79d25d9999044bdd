import type { Traffic } from '../load-generator/traffic.ts';

export type OperationName =
  | 'client-credentials'
  | 'refresh'
  | 'introspection'
  | 'authorization-code'
  | 'list-products'
  | 'read-own-order'
  | 'place-and-pay';

export type ComparedServerName = 'mandate' | 'keycloak' | 'hydra' | 'vendure' | 'medusa';

/** Requests that make up an operation: traffic for the load generator, or a function that sends several requests sequentially. */
export type Operation = {
  /** Number of requests that the server receives for each operation. */
  readonly requests: number;
} & (
  | {
      readonly origin: string;
      readonly traffic: Traffic;
      /** Text of a successful first response. Some servers report errors with status 200. */
      readonly expected: string;
    }
  | { readonly perform: () => Promise<unknown> }
);

/** A running server whose operations are compared with those of other servers. */
export type ComparedServer = {
  readonly name: ComparedServerName;
  readonly version: string;
  /** Name of the server's database on the PostgreSQL server that all compared servers share. */
  readonly database: string;
  /** CPU time that all processes of the server have used so far, in seconds. */
  readonly cpuSeconds: () => Promise<number>;
  /** Prepares the requests for an operation, for example by obtaining tokens. Called before each round. */
  readonly operations: Readonly<Partial<Record<OperationName, () => Promise<Operation>>>>;
};

/** Services that a peer needs when it starts. */
export type PeerContext = {
  /** Creates an empty database on the shared PostgreSQL server and returns its URL. */
  readonly createDatabase: (name: string) => Promise<URL>;
  /** Directory for configuration and log files, which is removed after the measurements. */
  readonly directory: string;
  /** Number of customers, each with a separate session. */
  readonly customers: number;
  /** Stack that stops the peer's processes when it is disposed. */
  readonly opened: AsyncDisposableStack;
};

/** Number of products in the peers' shops. */
export const catalogueSize = 1_000;

/** Password of every customer in the peers' shops. */
export const customerPassword = 'benchmark user password';
