import type { Order } from '@mandate/contract';
import type { ReadList } from '../../database/replica/read-routing.ts';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import type { Pages } from '../response/pagination.ts';

/** Called in the transaction of what happens to an account. */
export type EndAccess = (em: Em, userId: number, leaves: 'for now' | 'for good') => Promise<void>;

/** Called in the transaction in which the e-mail address of an account changes: invalidates mailed links and notifies both addresses. */
export type OnEmailAddressChange = (
  em: Em,
  change: { readonly userId: number; readonly from: string; readonly to: string; readonly isVerified: boolean },
  now: Date,
) => Promise<void>;

/** What the handlers of a resource are made with. */
export type ResourceDeps = {
  readonly em: Em;
  /** For lists that a replica may answer. */
  readonly readList: ReadList;
  readonly pages: Pages;
  /** Whether prices contain the tax, or it comes on top. */
  readonly taxMode: Order['tax_mode'];
  /** Ends everything that lets somebody in: sessions, tokens, consents and, when they leave for good, their password. */
  readonly endAccess: EndAccess;
  readonly onEmailAddressChange: OnEmailAddressChange;
  /** Of the keys that tokens are signed with: what encrypts them, and how this process learns at once that they are others. */
  readonly signingKeys: { readonly encryptionKey: Buffer; readonly readAgain: () => void };
};
