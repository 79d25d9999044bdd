import { z } from 'zod';
import { encryptText, decryptText } from '../../crypto/authenticated-encryption.ts';

const lifetimeMs = 10 * 60 * 1000;
const ticketSchema = z.object({
  accountId: z.number(),
  passwordSetAt: z.number().optional(),
  provider: z
    .object({ linkedAccountId: z.number(), issuer: z.string(), amr: z.array(z.string()), loginTs: z.number().optional() })
    .optional(),
  next: z.string(),
  until: z.number(),
});

/**
 * A verified first factor: the account, and either the time when its password was set (in milliseconds since 1970) or the provider that was
 * used.
 */
export type VerifiedFirstFactor = Omit<z.output<typeof ticketSchema>, 'until'>;

/**
 * Issues the encrypted ticket that the browser submits with the second-factor form. The ticket grants no access by itself and is bound to
 * the browser.
 */
export const issueFirstFactorTicket = (key: Buffer, browser: string, verified: VerifiedFirstFactor, now: Date): string =>
  encryptText(JSON.stringify({ ...verified, until: now.getTime() + lifetimeMs }), key, `password given in ${browser}`);

/** Decrypts a ticket. Returns undefined if the ticket has expired or belongs to a different browser. */
export function decryptFirstFactorTicket(key: Buffer, browser: string, ticket: string, now: Date): VerifiedFirstFactor | undefined {
  const text = decryptText(ticket, key, `password given in ${browser}`);
  if (text === undefined) return undefined;
  const { until, ...verified } = ticketSchema.parse(JSON.parse(text));
  return until > now.getTime() ? verified : undefined;
}
