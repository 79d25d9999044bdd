import { z } from 'zod';

/** How a user signed in. */
export type LinkedAccountOfSignIn = {
  /** The linked account; null for a sign-in without an identity provider. */
  readonly linkedAccountId: number | null;
};

const resultSchema = z.object({ login: z.object({ linkedAccountId: z.number().nullable().default(null) }) });

/**
 * Returns how the user signed in during an authorization request.
 * @param result the result of the interaction, which `completeSignIn` passes to oidc-provider
 * @returns undefined if the user was already signed in
 */
export const linkedAccountFromInteractionResult = (result: unknown): LinkedAccountOfSignIn | undefined =>
  resultSchema.safeParse(result).data?.login;
