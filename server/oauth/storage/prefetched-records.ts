import { defineObjectMetadata } from '../../memory/object-metadata.ts';
import type { StoredOauthRecord } from './oauth-record-mapping.ts';

export type AccountRow = { id: number; name: string; email: string; email_verified: boolean; updated_at: string };

/**
 * Records read together with a code or a refresh token, in the transaction that consumes the code or token: the grant, which is locked, and
 * the user.
 */
export type PrefetchedRecords = {
  readonly grant: StoredOauthRecord | null;
  readonly account: AccountRow | null;
  /** For a rotated refresh token within its grace period: the stored response that contained its successor. */
  readonly refresh_response: string | null;
};

const prefetchedByContext = defineObjectMetadata<PrefetchedRecords | undefined>('found together');

/** Returns the records prefetched for the request with this oidc-provider context; undefined outside a request. */
export const getPrefetchedRecords = (ctx: object | undefined): PrefetchedRecords | undefined =>
  ctx ? prefetchedByContext.get(ctx) : undefined;

/** Sets or, with undefined, invalidates the prefetched records of a request. */
export function setPrefetchedRecords(ctx: object | undefined, records: PrefetchedRecords | undefined): void {
  if (ctx) prefetchedByContext.set(ctx, records);
}
