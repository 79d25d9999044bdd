import type { Request } from 'express';
import type { Language, Languages } from '../../languages/languages.ts';

/** Returns the language that `Accept-Language` prefers (RFC 9110 section 12.5.4), or undefined if the request has no preference. */
export function negotiateLanguage(req: Request, languages: Languages): Language | undefined {
  // A client that accepts every language (such as Node's fetch) expresses no preference.
  if ((req.headers['accept-language'] ?? '*').trim() === '*') return undefined;
  const accepted = req.acceptsLanguages(languages.tags);
  return accepted === false ? undefined : languages.match(accepted);
}
