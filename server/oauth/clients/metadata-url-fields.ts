/** URLs that people are sent to (redirect URIs), or that are ignored here (RFC 7591 section 2): the server never requests them. */
const neverRequested = new Set(['redirect_uris', 'post_logout_redirect_uris', 'client_uri', 'policy_uri', 'tos_uri']);
/** Text in which a URL is only text. */
const text = new Set(['client_id', 'client_name', 'contacts', 'scope', 'software_id', 'software_version']);

const urlName = /_(uris?|urls?|endpoint)$/;
const urlValue = /^\s*[a-z][a-z0-9+.-]*:\/\//i;

/**
 * Returns the client metadata fields whose value is a URL that an implementation could request: `jwks_uri`, `sector_identifier_uri`,
 * `logo_uri` and the like. Decides by the name and by the value, so that a field which this server does not know is found as well.
 */
export const requestableUrlFields = (metadata: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(metadata)
    .filter(([name]) => !neverRequested.has(name) && !text.has(name))
    .filter(([name, value]) => value != null && (urlName.test(name) || containsUrl(value)))
    .map(([name]) => name);

/** No metadata is nested deeper; whatever is deeper counts as a URL, so that nothing escapes the check. */
const depthMax = 8;

function containsUrl(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return urlValue.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return depth === depthMax || Object.values(value).some((inner) => containsUrl(inner, depth + 1));
}
