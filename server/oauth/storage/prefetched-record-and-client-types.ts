import type { Application } from '../../applications/application.entity.ts';
import type { StoredOauthRecord } from './oauth-record-mapping.ts';

export type AccountRow = { id: number; name: string; email: string; email_verified: boolean; locale: string | null; updated_at: string };

/**
 * A locked code or refresh token, and the other records that the request needs: the locked grant and the user. All of these records are
 * read in the transaction that consumes the code or token.
 */
export type PrefetchedRecords = StoredOauthRecord & {
  readonly grant: StoredOauthRecord | null;
  readonly account: AccountRow | null;
  /** Stored response that contained the successor of this refresh token; `null` unless the token was rotated and is in its grace period. */
  readonly refresh_response: string | null;
  /** ID of the linked account through which the user signed in, if it is time to check whether the account still exists at its provider. */
  readonly due_linked_account_id: number | null;
};

/** An active client. The client is read outside the transaction, so that the lookup can be batched with the lookups of other requests. */
export type PrefetchedClient = Pick<
  Application,
  | 'clientId'
  | 'name'
  | 'type'
  | 'secretHashes'
  | 'previousSecretHash'
  | 'jwks'
  | 'jwksUri'
  | 'certificateAuthMethod'
  | 'tlsClientAuthSubject'
  | 'tlsClientCertificateBoundAccessTokens'
  | 'requireSignedRequestObject'
  | 'securityProfile'
  | 'idTokenSignedResponseAlg'
  | 'redirectUris'
  | 'postLogoutRedirectUris'
  | 'backchannelLogoutUri'
  | 'grantTypes'
  | 'scopes'
  | 'refreshGraceSeconds'
  | 'allowNonceInsteadOfPkce'
  | 'allowNeitherPkceNorNonce'
> & { readonly previousSecretUntil: string | null };
