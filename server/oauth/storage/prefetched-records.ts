import { noteOf } from '../../memory/object-metadata.ts';
import type { Stored } from './oauth-record-mapping.ts';

export type AccountRow = { id: number; name: string; email: string; email_verified: boolean; updated_at: string };

/** Records read together with a code or a refresh token, in the transaction that consumes it: its grant, which is locked, and its user. */
export type FoundTogether = {
  readonly grant: Stored | null;
  readonly account: AccountRow | null;
  /** For a rotated refresh token within its grace period: the stored response that contained its successor. */
  readonly refresh_response: string | null;
};

const prefetchedByContext = noteOf<FoundTogether | undefined>('found together');

/** Returns the records prefetched for the request with this oidc-provider context; undefined outside a request. */
export const foundTogether = (ctx: object | undefined): FoundTogether | undefined => (ctx ? prefetchedByContext.get(ctx) : undefined);

/** Sets or, with undefined, invalidates the prefetched records of a request. */
export function noteFoundTogether(ctx: object | undefined, records: FoundTogether | undefined): void {
  if (ctx) prefetchedByContext.set(ctx, records);
}
