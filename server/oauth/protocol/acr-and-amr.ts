/** How a user authenticated: `amr` lists the methods (RFC 8176), and `acr` states the number of factors. */
export type Proof = { readonly amr: readonly string[]; readonly acr: string };

export const oneFactor = 'urn:mandate:one-factor';
export const twoFactors = 'urn:mandate:two-factors';

export const byPassword: Proof = { amr: ['pwd'], acr: oneFactor };
export const byPasswordAndCode: Proof = { amr: ['pwd', 'otp', 'mfa'], acr: twoFactors };
/** A passkey counts as two factors: the device is a possession factor, and it verifies the user. */
export const byPasskey: Proof = { amr: ['pop', 'user', 'mfa'], acr: twoFactors };
