import { z } from 'zod';
import { seal, unseal } from '../sealed-text.ts';

const lifeMs = 10 * 60 * 1000;
const content = z.object({ accountId: z.number(), next: z.string(), until: z.number() });

/** What a browser brings along from the password to the second step: it opens nothing by itself, and in no other browser. */
export const issueProof = (key: Buffer, browser: string, proved: { accountId: number; next: string }, now: Date): string =>
  seal(JSON.stringify({ ...proved, until: now.getTime() + lifeMs }), key, `password given in ${browser}`);

export function readProof(key: Buffer, browser: string, proof: string, now: Date): { accountId: number; next: string } | undefined {
  const text = unseal(proof, key, `password given in ${browser}`);
  if (text === undefined) return undefined;
  const { until, ...proved } = content.parse(JSON.parse(text));
  return until > now.getTime() ? proved : undefined;
}
