import { noteOf } from '../../memory/object-metadata.ts';
import type { Stored } from './oauth-record-mapping.ts';

export type AccountRow = { id: number; name: string; email: string; email_verified: boolean; updated_at: string };

/** What was read with a code or a refresh token, in the transaction that spends it: its grant, which it holds, and whom it is about. */
export type FoundTogether = {
  readonly grant: Stored | null;
  readonly account: AccountRow | null;
  /** Of a rotated refresh token, while its grace period lasts: the record with the response that contained its successor. */
  readonly refresh_response: string | null;
};

const found = noteOf<FoundTogether | undefined>('found together');

/** Of this request, whose context oidc-provider gives; nothing outside of one. */
export const foundTogether = (ctx: object | undefined): FoundTogether | undefined => (ctx ? found.get(ctx) : undefined);

export function noteFoundTogether(ctx: object | undefined, what: FoundTogether | undefined): void {
  if (ctx) found.set(ctx, what);
}
