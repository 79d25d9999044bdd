import { z } from 'zod';
import { encryptText, decryptText } from '../../crypto/authenticated-encryption.ts';

const lifetimeMs = 10 * 60 * 1000;
const ticketSchema = z.object({ accountId: z.number(), passwordSetAt: z.number(), next: z.string(), until: z.number() });

/** A verified password: the account, and when the password was set, in milliseconds since 1970. */
type VerifiedPassword = { readonly accountId: number; readonly passwordSetAt: number; readonly next: string };

/**
 * Issues the encrypted ticket that a browser sends from the password form to the second step. The ticket grants no access by itself and is
 * bound to the browser.
 */
export const issueVerifiedPasswordTicket = (key: Buffer, browser: string, verified: VerifiedPassword, now: Date): string =>
  encryptText(JSON.stringify({ ...verified, until: now.getTime() + lifetimeMs }), key, `password given in ${browser}`);

/** Decrypts a ticket. Returns undefined if the ticket has expired or belongs to another browser. */
export function decryptVerifiedPasswordTicket(key: Buffer, browser: string, ticket: string, now: Date): VerifiedPassword | undefined {
  const text = decryptText(ticket, key, `password given in ${browser}`);
  if (text === undefined) return undefined;
  const { until, ...verified } = ticketSchema.parse(JSON.parse(text));
  return until > now.getTime() ? verified : undefined;
}
