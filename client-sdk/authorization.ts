export {
  beginAuthorization,
  completeAuthorization,
  revoke,
  type AuthorizationRequest,
  type AuthorizationRequestOptions,
} from './authorization-code.ts';
export { discover, type AuthorizationServer, type AuthorizationServerOptions, type Tokens } from './authorization-server.ts';
export { clientCredentials, type ClientCredentials } from './client-credentials.ts';
export { refreshingTokens, type RefreshOptions } from './refreshing-tokens.ts';
export { memoryStore, type TokenStore } from './token-store.ts';
export {
  beginDeviceAuthorization,
  completeDeviceAuthorization,
  type DeviceAuthorization,
  type DeviceAuthorizationOptions,
} from './device-authorization.ts';
export { exportProofKey, importProofKey, newProofKey, type ProofJwk, type ProofKey } from './proof-key.ts';
