/**
 * Fields with URLs that the server never requests during registration. These fields contain redirect URIs, the URL for logout tokens
 * (checked by `findApplicationFieldErrors`), a name in a certificate, and values that the server ignores (RFC 7591 section 2).
 */
const neverRequested = new Set([
  'redirect_uris',
  'post_logout_redirect_uris',
  'backchannel_logout_uri',
  'client_uri',
  'logo_uri',
  'policy_uri',
  'tos_uri',
  'tls_client_auth_san_uri',
]);
/** Text fields, whose values may contain URLs. The server never requests these URLs. */
const textFields = new Set(['client_id', 'client_name', 'contacts', 'scope', 'software_id', 'software_version']);

const urlName = /_(uris?|urls?|endpoint)$/;
const urlValue = /^\s*[a-z][a-z0-9+.-]*:\/\//i;

/**
 * Returns the client metadata fields whose values contain a URL that an authorization server could request, such as `jwks_uri`,
 * `sector_identifier_uri` and `request_uris`. Checks both names and values, so that even unknown fields are found.
 */
export const findMetadataFieldsWithFetchableUrl = (metadata: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(metadata)
    .filter(([name]) => !neverRequested.has(name) && !textFields.has(name))
    .filter(([name, value]) => value != null && (urlName.test(name) || containsUrl(value)))
    .map(([name]) => name);

/** Maximum nesting depth of client metadata. Values that are nested more deeply are treated as URLs, so that no value escapes the check. */
const depthMax = 8;

function containsUrl(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return urlValue.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return depth === depthMax || Object.values(value).some((inner) => containsUrl(inner, depth + 1));
}
