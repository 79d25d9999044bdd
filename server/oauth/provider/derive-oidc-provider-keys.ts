import { createSecretKey } from 'node:crypto';

/** Derives a separate key for each purpose in oidc-provider and its hooks. */
export const deriveOidcProviderKeys = (deriveKey: (purpose: string) => Buffer) => ({
  referenceKey: createSecretKey(deriveKey('token references')),
  refreshResponseKey: createSecretKey(deriveKey('refresh responses')),
  cookieKey: deriveKey('cookies').toString('base64url'),
  dpopNonceSecret: deriveKey('DPoP nonces of the authorization server'),
});
