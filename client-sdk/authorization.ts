export {
  beginAuthorization,
  completeAuthorization,
  revoke,
  type AuthorizationRequest,
  type AuthorizationRequestOptions,
  type OrderAuthorizationRequest,
} from './auth/authorization-code.ts';
export {
  discover,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type ClientAuthentication,
  type Tokens,
} from './auth/authorization-server-metadata.ts';
export { clientCredentials, type ClientCredentials } from './auth/client-credentials.ts';
export { refreshingTokens, type RefreshOptions } from './auth/refreshing-token-source.ts';
export { memoryStore, type TokenStore } from './auth/token-store.ts';
export {
  beginDeviceAuthorization,
  completeDeviceAuthorization,
  type DeviceAuthorization,
  type DeviceAuthorizationOptions,
} from './auth/device-authorization.ts';
export { exportProofKey, importProofKey, newProofKey, type ProofJwk, type ProofKey } from './auth/dpop-key.ts';
