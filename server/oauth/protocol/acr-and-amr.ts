/** How a user authenticated: `amr` lists the methods (RFC 8176), and `acr` states the number of factors. */
export type AuthenticationContext = { readonly amr: readonly string[]; readonly acr: string };

export const oneFactorAcrValue = 'urn:mandate:one-factor';
export const twoFactorAcrValue = 'urn:mandate:two-factors';

export const passwordAcrAndAmr: AuthenticationContext = { amr: ['pwd'], acr: oneFactorAcrValue };
export const passwordAndCodeAcrAndAmr: AuthenticationContext = { amr: ['pwd', 'otp', 'mfa'], acr: twoFactorAcrValue };
/** Returns the authentication context of a session whose user has also entered a code from an authenticator app. */
export const addAuthenticatorCodeToAcrAndAmr = (amr: readonly string[]): AuthenticationContext => ({
  amr: [...new Set([...amr, 'otp', 'mfa'])],
  acr: twoFactorAcrValue,
});
/** A passkey counts as two factors: the device is a possession factor, and the device verifies the user. */
export const passkeyAcrAndAmr: AuthenticationContext = { amr: ['pop', 'user', 'mfa'], acr: twoFactorAcrValue };
