import type { AdapterPayload, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { requestContext } from '../../http/request/request-context.ts';
import type { PrefetchedClient, PrefetchedRecords } from '../storage/prefetched-oauth-records.ts';

/** Data of one request to the authorization server or to one of its pages. */
export type OauthRequestContext = {
  /** The request body, which is read before a transaction starts. */
  body: Buffer | undefined;
  /** The fields of `body`. */
  form: URLSearchParams | undefined;
  /** The context that oidc-provider uses for this request. */
  koaContext: (Partial<Pick<KoaContextWithOIDC, 'oidc'>> & object) | undefined;
  /** The client that the request names. */
  client: PrefetchedClient | undefined;
  /** Why the client ID metadata document that the request names is unusable. */
  metadataDocumentFailure: string | undefined;
  /** The request's locked code or refresh token, with the records that were read in the same query. */
  prefetched: PrefetchedRecords | undefined;
  /** The presented refresh token, which the refresh grant has locked, and its record as oidc-provider reads it. */
  lockedRefreshToken: { readonly token: string; readonly payload: AdapterPayload | undefined } | undefined;
  /** The response that a repeated refresh receives once oidc-provider has validated the request. */
  storedRefreshResponse: string | undefined;
  /** The grant that was revoked because the request presented a used code or refresh token. */
  revokedGrantId: string | undefined;
  /** The error that oidc-provider reported as `server_error`. */
  serverError: unknown;
  /** The browser's session. */
  session: InstanceType<Provider['Session']> | undefined;
  /** The identifier that the response gives to a browser without one. */
  newBrowserId: string | undefined;
};

declare module '../../http/request/request-context.ts' {
  interface RequestContext {
    oauth?: OauthRequestContext;
  }
}

/** Returns the data of a request to the authorization server, creating it for the first caller. */
export function oauthContext(req: object): OauthRequestContext {
  const context = requestContext(req);
  context.oauth ??= {
    body: undefined,
    form: undefined,
    koaContext: undefined,
    client: undefined,
    metadataDocumentFailure: undefined,
    prefetched: undefined,
    lockedRefreshToken: undefined,
    storedRefreshResponse: undefined,
    revokedGrantId: undefined,
    serverError: undefined,
    session: undefined,
    newBrowserId: undefined,
  };
  return context.oauth;
}
