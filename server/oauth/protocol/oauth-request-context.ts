import type { PublicJsonWebKey } from '@mandate/contract';
import type { AdapterPayload, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { getRequestContext } from '../../http/request/request-context-principal-and-access-log.ts';
import type { NewOauthRecord } from '../storage/oauth-record-mapping.ts';
import type { AccountRow, PrefetchedClient, PrefetchedRecords } from '../storage/prefetched-record-and-client-types.ts';

/** Data for one request to the authorization server or to one of its pages. */
export type OauthRequestContext = {
  /** The request body, which is read before a transaction starts. */
  body: Buffer | undefined;
  /** The fields of `body`. */
  form: URLSearchParams | undefined;
  /** The context that oidc-provider uses for this request. */
  koaContext: (Partial<Pick<KoaContextWithOIDC, 'oidc'>> & object) | undefined;
  /** The client that the request specifies. */
  client: PrefetchedClient | undefined;
  /** Keys from the client's `jwks_uri` that verify the assertion or request object in the request. */
  clientKeys: { readonly clientId: string; readonly keys: readonly PublicJsonWebKey[] } | undefined;
  /** The request's verified client assertion, and the record that marks the assertion as used. */
  clientAssertion: { record: NewOauthRecord | undefined } | undefined;
  /** Reason why the client could not be authenticated with its key or certificate. */
  clientAuthenticationFailure: string | undefined;
  /** Whether the request contains no DPoP proof, although the client must bind its tokens to a key. */
  lacksDpopProof: boolean;
  /** Whether the request lacks an acceptable certificate, although the client must bind its tokens to one. */
  lacksCertificate: boolean;
  /** Reason why the client ID metadata document that the request refers to cannot be used. */
  metadataDocumentFailure: string | undefined;
  /** The request's locked code or refresh token, with the records that were read in the same query. */
  prefetched: PrefetchedRecords | undefined;
  /** The presented refresh token, which the refresh grant handler has locked, and the payload that oidc-provider reads for this token. */
  lockedRefreshToken: { readonly token: string; readonly payload: AdapterPayload | undefined } | undefined;
  /** The stored response that a repeated refresh request receives once oidc-provider has validated the request. */
  storedRefreshResponse: string | undefined;
  /** The grant that was revoked because the request presented a used code or refresh token. */
  revokedGrantId: string | undefined;
  /** The error that oidc-provider reported as `server_error`. */
  serverError: unknown;
  /** The browser's session. */
  session: InstanceType<Provider['Session']> | undefined;
  /** The browser identifier that the response sets if the request did not contain one. */
  newBrowserId: string | undefined;
  /** The active account of the browser's session. */
  signedInAccount: AccountRow | undefined;
  /** `ui_locales` of the authorization request. */
  uiLocales: string | undefined;
  /** The language that the user has selected with this request. */
  chosenLanguage: string | undefined;
  /** Whether the URL of this GET request works only once, so that the page cannot be shown again. */
  isShownOnlyOnce: boolean;
};

declare module '../../http/request/request-context-principal-and-access-log.ts' {
  interface RequestContext {
    oauth?: OauthRequestContext;
  }
}

/** Returns the data for a request to the authorization server, and creates it on the first call. */
export function getOauthRequestContext(req: object): OauthRequestContext {
  const context = getRequestContext(req);
  context.oauth ??= {
    body: undefined,
    form: undefined,
    koaContext: undefined,
    client: undefined,
    clientKeys: undefined,
    clientAssertion: undefined,
    clientAuthenticationFailure: undefined,
    lacksDpopProof: false,
    lacksCertificate: false,
    metadataDocumentFailure: undefined,
    prefetched: undefined,
    lockedRefreshToken: undefined,
    storedRefreshResponse: undefined,
    revokedGrantId: undefined,
    serverError: undefined,
    session: undefined,
    newBrowserId: undefined,
    signedInAccount: undefined,
    uiLocales: undefined,
    chosenLanguage: undefined,
    isShownOnlyOnce: false,
  };
  return context.oauth;
}
