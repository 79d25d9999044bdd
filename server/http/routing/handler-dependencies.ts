import type { Order } from '@mandate/contract';
import type { RunListQuery } from '../../database/replica/primary-only-list-query-runner.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { CursorPaginator } from '../response/pagination.ts';

/** Revokes a user's access, in the transaction that suspends or closes the account. */
export type RevokeAccess = (em: EntityManager, userId: number, reason: 'suspended' | 'closed') => Promise<void>;

/** Invalidates links sent by e-mail and notifies the old and the new address, in the transaction that changes a user's e-mail address. */
export type OnEmailAddressChange = (
  em: EntityManager,
  change: {
    readonly userId: number;
    readonly from: string;
    readonly to: string;
    readonly isVerified: boolean;
    readonly locale: string | null;
  },
  now: Date,
) => Promise<void>;

/** Dependencies shared by all route handlers. */
export type HandlerDependencies = {
  readonly em: EntityManager;
  /** Runs list queries, on the read replica if one is configured. */
  readonly readList: RunListQuery;
  readonly pages: CursorPaginator;
  /** Whether prices include tax. If false, tax is added to the prices. */
  readonly taxMode: Order['tax_mode'];
  /** Revokes sessions, tokens and consents, and deletes the password if the account is closed. */
  readonly endAccess: RevokeAccess;
  readonly onEmailAddressChange: OnEmailAddressChange;
  /** Whether webhook and logout URLs can use plain HTTP if they point to this machine. */
  readonly development: boolean;
  /** Specifies which client certificates the server accepts. */
  readonly clientCertificates: { readonly accepted: boolean; readonly hasAuthority: boolean };
  /** The key that encrypts signing keys in the database, and a callback that makes this process reload the keys immediately. */
  readonly signingKeys: { readonly encryptionKey: Buffer; readonly readAgain: () => void };
};
