/** How somebody proved who they are: `amr` by RFC 8176, and `acr` by how many kinds of proof that were. */
export type Proof = { readonly amr: readonly string[]; readonly acr: string };

export const oneFactor = 'urn:mandate:one-factor';
export const twoFactors = 'urn:mandate:two-factors';

export const byPassword: Proof = { amr: ['pwd'], acr: oneFactor };
export const byPasswordAndCode: Proof = { amr: ['pwd', 'otp', 'mfa'], acr: twoFactors };
/** A passkey is something one has, and the device checks who holds it. */
export const byPasskey: Proof = { amr: ['pop', 'user', 'mfa'], acr: twoFactors };
