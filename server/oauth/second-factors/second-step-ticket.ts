import { z } from 'zod';
import { seal, unseal } from '../../crypto/authenticated-encryption.ts';

const lifeMs = 10 * 60 * 1000;
const content = z.object({ accountId: z.number(), passwordSetAt: z.number(), next: z.string(), until: z.number() });

/** What the browser has proved: the password of an account, as it was set at that time in milliseconds since 1970. */
type PasswordProof = { readonly accountId: number; readonly passwordSetAt: number; readonly next: string };

/** What a browser brings along from the password to the second step: it opens nothing by itself, and in no other browser. */
export const issueProof = (key: Buffer, browser: string, proved: PasswordProof, now: Date): string =>
  seal(JSON.stringify({ ...proved, until: now.getTime() + lifeMs }), key, `password given in ${browser}`);

export function readProof(key: Buffer, browser: string, proof: string, now: Date): PasswordProof | undefined {
  const text = unseal(proof, key, `password given in ${browser}`);
  if (text === undefined) return undefined;
  const { until, ...proved } = content.parse(JSON.parse(text));
  return until > now.getTime() ? proved : undefined;
}
