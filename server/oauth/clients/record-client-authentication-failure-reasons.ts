import { errors, type KoaContextWithOIDC, type Provider } from 'oidc-provider';
import {
  getClientAuthenticationMethod,
  isCertificateAuthenticationMethod,
} from '../../applications/client-authentication-method-and-keys.ts';
import { getPresentedCertificate } from '../../http/request/client-certificate.ts';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';

/**
 * Records why client authentication failed, so that the error response explains why an assertion or a certificate was rejected, or that a
 * DPoP proof or a certificate is missing. Applies to all endpoints that authenticate clients.
 */
export const recordClientAuthenticationFailureReasons = (provider: Provider): Provider =>
  provider
    .on('grant.error', recordAuthenticationFailure)
    .on('revocation.error', recordAuthenticationFailure)
    .on('introspection.error', recordAuthenticationFailure)
    .on('pushed_authorization_request.error', recordAuthenticationFailure)
    .on('device_authorization.error', recordAuthenticationFailure);

/** oidc-provider's error detail if a client that must bind its tokens to a key sends no DPoP proof. */
const missingProofDetail = 'DPoP proof JWT not provided';
/** oidc-provider's error detail if a client that must bind its tokens to a certificate presents no certificate. */
const missingCertificateDetail = 'mutual TLS client certificate not provided';

function recordAuthenticationFailure({ req }: Pick<KoaContextWithOIDC, 'req'>, error: errors.OIDCProviderError): void {
  const context = getOauthRequestContext(req);
  const { error_detail: detail = 'not valid' } = error;
  if (detail === missingProofDetail) context.lacksDpopProof = true;
  if (detail === missingCertificateDetail) context.lacksCertificate = true;
  const { client } = context;
  if (!(error instanceof errors.InvalidClientAuth) || !client) return;
  const method = getClientAuthenticationMethod(client);
  const hasAssertion = context.form?.has('client_assertion') === true;
  // The response does not reveal whether the client exists if the client uses a different authentication method.
  if (method === 'private_key_jwt' && hasAssertion)
    context.clientAuthenticationFailure ??= `client assertion: ${toErrorDescription(detail)}`;
  if (isCertificateAuthenticationMethod(method) && !hasAssertion)
    context.clientAuthenticationFailure ??= `client certificate: ${getPresentedCertificate(req)?.rejection ?? toErrorDescription(detail)}`;
}

/** Removes characters that an `error_description` must not contain (RFC 6749 section 5.2). */
const toErrorDescription = (text: string): string => text.replaceAll(/[^ -~]|["\\]/g, '');
