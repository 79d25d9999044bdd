import { createSecretKey } from 'node:crypto';

/** Derives the keys of oidc-provider and of its hooks, one for each purpose. */
export const deriveProviderKeys = (deriveKey: (purpose: string) => Buffer) => ({
  referenceKey: createSecretKey(deriveKey('token references')),
  refreshResponseKey: createSecretKey(deriveKey('refresh responses')),
  cookieKey: deriveKey('cookies').toString('base64url'),
  dpopNonceSecret: deriveKey('DPoP nonces of the authorization server'),
});
