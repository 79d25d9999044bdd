/** How a user authenticated: `amr` lists the methods (RFC 8176), and `acr` states the number of factors. */
export type AuthenticationContext = { readonly amr: readonly string[]; readonly acr: string };

export const acrOneFactor = 'urn:mandate:one-factor';
export const acrTwoFactors = 'urn:mandate:two-factors';

export const passwordAuthentication: AuthenticationContext = { amr: ['pwd'], acr: acrOneFactor };
export const passwordAndCodeAuthentication: AuthenticationContext = { amr: ['pwd', 'otp', 'mfa'], acr: acrTwoFactors };
/** A passkey counts as two factors: the device is a possession factor, and the device verifies the user. */
export const passkeyAuthentication: AuthenticationContext = { amr: ['pop', 'user', 'mfa'], acr: acrTwoFactors };
