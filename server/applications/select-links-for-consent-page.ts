import type { Application } from './application.entity.ts';

export type ApplicationLinks = { readonly privacyPolicy: string | undefined; readonly termsOfService: string | undefined };

/**
 * Returns the links that the consent page may show for an application. If no administrator registered the application, a link must lead to
 * the host that receives the authorization code or to the host of the client ID metadata document. Otherwise, an application could link to
 * the pages of a different company and thereby appear to be that company's application (RFC 7591 section 5).
 * @param redirectUri redirect URI of the request; undefined in the device flow. Other registered redirect URIs do not count, because an
 * application can register addresses of any company.
 */
export function selectLinksForConsentPage(
  application: Pick<Application, 'clientId' | 'policyUri' | 'tosUri' | 'registration'>,
  redirectUri: string | undefined,
): ApplicationLinks {
  const hosts = new Set([application.clientId, redirectUri ?? ''].flatMap(hostFromHttpsUrl));
  const isTrusted = (uri: string): boolean =>
    application.registration === 'administrator' || hostFromHttpsUrl(uri).some((host) => hosts.has(host));
  const [privacyPolicy, termsOfService] = [application.policyUri, application.tosUri].map((uri) =>
    uri != null && isTrusted(uri) ? uri : undefined,
  );
  return { privacyPolicy, termsOfService };
}

function hostFromHttpsUrl(uri: string): string[] {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  return url?.protocol === 'https:' ? [url.host] : [];
}
