const notSupportedScope = "The server's metadata does not list the scope, which is optional.";
const idTokenClaims =
  'The ID token, and not only the userinfo response, contains the claims of the requested scopes, because many clients never call userinfo. The specification allows this.';
const signInPage = 'The screenshot shows the sign-in page, which the server shows again for the second request.';
const redirectUriErrorPage = 'The screenshot shows the error page; the server does not redirect to an unregistered URI.';
const onlySignedRequestObjects = 'The server accepts only signed request objects, as its metadata states.';
const noPairwiseSubjects = "A user has the same `sub` in all applications, as the server's metadata states.";
const noLogoOfApplications =
  "The screenshot shows the sign-in page. The specification recommends that the page shows this logo. The server shows only the name of a self-registered application: an image on the application's server would reveal to it who opens the page, and the logo could be that of another company.";
const linksOnConsentPage =
  'The screenshot shows the sign-in page. The specification recommends that the page shows this link. The server shows the links of a self-registered application on the consent page, if the redirect URI has the same host. The link of the suite leads to `localhost`, and the server accepts only links to host names with a dot.';
const signedOutPage = 'The screenshot shows the page "You are signed out".';
const signOutErrorPage = 'The screenshot shows an error page; the user is not redirected.';

/** Reasons for results other than `PASSED`, keyed by module name. */
const remarks: Readonly<Record<string, string>> = {
  'oidcc-scope-profile':
    'A user has only a `name` and `updated_at`. The suite also looks for the 12 other claims of the scope, such as `gender` and `birthdate`, which are optional and which a shop does not collect.',
  'oidcc-scope-email': idTokenClaims,
  'oidcc-alternate-happy-flow': idTokenClaims,
  'oidcc-scope-address': notSupportedScope,
  'oidcc-scope-phone': notSupportedScope,
  'oidcc-scope-all': notSupportedScope,
  'oidcc-prompt-login': signInPage,
  'oidcc-max-age-1': signInPage,
  'oidcc-ensure-registered-redirect-uri': redirectUriErrorPage,
  'oidcc-ensure-redirect-uri-in-authorization-request':
    'The screenshot shows the error page; the server does not redirect without `redirect_uri`.',
  'oidcc-redirect-uri-query-mismatch': redirectUriErrorPage,
  'oidcc-redirect-uri-query-added': redirectUriErrorPage,
  'oidcc-idtoken-unsigned': 'The server signs every ID token, as its metadata states.',
  'oidcc-registration-sector-uri': noPairwiseSubjects,
  'oidcc-registration-sector-bad': noPairwiseSubjects,
  'oidcc-registration-logo-uri': noLogoOfApplications,
  'oidcc-registration-policy-uri': linksOnConsentPage,
  'oidcc-registration-tos-uri': linksOnConsentPage,
  'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported': onlySignedRequestObjects,
  'oidcc-ensure-request-object-with-redirect-uri': onlySignedRequestObjects,
  'oidcc-rp-initiated-logout-no-params': signedOutPage,
  'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': signedOutPage,
  'oidcc-rp-initiated-logout-only-state': signedOutPage,
  'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': signOutErrorPage,
  'oidcc-rp-initiated-logout-modified-id-token-hint': signOutErrorPage,
  'oidcc-rp-initiated-logout-no-id-token-hint': `The server asks the user for confirmation, as the module allows, and does not redirect. ${signedOutPage}`,
  'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri': signOutErrorPage,
  'oidcc-rp-initiated-logout-bad-id-token-hint': signOutErrorPage,
};

/** Returns the explanation of a module's result, or a note that it has not been explained. */
export const remarkOf = (module: string): string => remarks[module] ?? notExplained;

export const notExplained = 'not yet examined';

/** Plans of the suite that are not run, each with the reason. */
export const plansNotRun: readonly { readonly plan: string; readonly reason: string }[] = [
  {
    plan: 'Implicit OP, Hybrid OP, Form Post Implicit OP, Form Post Hybrid OP',
    reason: 'this server supports only the response type `code`. RFC 9700 section 2.1.2 advises against the implicit grant.',
  },
  {
    plan: 'Session Management OP, Front-Channel Logout OP, Third Party-Initiated Login OP, FAPI 1.0 Advanced, FAPI-CIBA',
    reason: 'this server does not implement these specifications.',
  },
];
