import type { Request, RequestHandler, Response } from 'express';
import { negotiateLanguage } from '../../../http/request/negotiate-language.ts';
import type { Language } from '../../../languages/languages.ts';
import { canonicalizeTimeZoneName } from '../../../order-limits/time-zone-names-and-end-of-day.ts';
import { getOauthRequestContext } from '../../protocol/oauth-request-context.ts';
import { oauthEndpointPaths } from '../../protocol/endpoint-paths-and-audiences.ts';
import { languageParameter } from '../layout/language-switch.ts';
import type { PageSettings } from './page-layout-and-form-fields.ts';

/**
 * Selects the language of a page. The first of these sources that specifies a supported language applies: the language chosen on the page
 * or earlier in this browser, the setting of the signed-in user, `ui_locales` of the authorization request (OpenID Connect Core section
 * 3.1.2.1), `Accept-Language` (RFC 9110 section 12.5.4), and the default language.
 */
const selectPageLanguage = (settings: PageSettings, req: Request): Language =>
  findPreferredLanguage(settings, req) ?? settings.languages.default;

/** Like `selectPageLanguage`, but returns undefined instead of the default language. */
export function findPreferredLanguage({ languages, languageCookie }: PageSettings, req: Request): Language | undefined {
  const { chosenLanguage, signedInAccount, uiLocales = '' } = getOauthRequestContext(req);
  const tags = [chosenLanguage, readCookie(req, languageCookie), signedInAccount?.locale, ...uiLocales.split(' ')];
  for (const tag of tags) {
    const language = tag == null || tag === '' ? undefined : languages.match(tag);
    if (language) return language;
  }
  return negotiateLanguage(req, languages);
}

const readCookie = ({ headers: { cookie = '' } }: Request, name: string): string | undefined =>
  cookie
    .split(/;\s*/)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

/** Returns the settings for pages in the language and the time zone of a request, with the language switch. */
export function localizePageSettingsForRequest(settings: PageSettings, req: Request): PageSettings {
  const { messages } = selectPageLanguage(settings, req);
  const languages = settings.languages.all.map(({ tag, messages: { language } }) => ({ tag, name: language.name }));
  const timeZone = canonicalizeTimeZoneName(readCookie(req, settings.timeZoneCookie));
  const query = canBeShownAgain(req) ? (req.originalUrl.split('?', 2)[1] ?? '') : undefined;
  return { ...settings, messages, timeZone, languageSwitch: { languages, query } };
}

/** Returns whether a second GET request to the same URL shows the page of this request again. */
const canBeShownAgain = (req: Request): boolean => safeMethods.has(req.method) && !getOauthRequestContext(req).isShownOnlyOnce;

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * Returns the settings for e-mails to a user: in the user's language or, if the user has not set one, in the language of `settings`. Times
 * in e-mails include the time zone, because the recipient may be in a different time zone than the user whose action triggered the e-mail.
 */
export const localizePageSettingsForEmailToUser = (settings: PageSettings, locale: string | null | undefined): PageSettings => {
  const language = locale == null ? undefined : settings.languages.match(locale);
  return { ...settings, ...(language && { messages: language.messages }), timeZone: undefined };
};

/** Like `localizePageSettingsForEmailToUser`, but ignores the language of the request, because the request was sent by another user. */
export const localizePageSettingsForEmailToOtherUser = (settings: PageSettings, locale: string | null | undefined): PageSettings =>
  localizePageSettingsForEmailToUser({ ...settings, messages: settings.languages.default.messages }, locale);

/** Sets `Content-Language` to the language of the page, and `Vary` to the request headers on which the page depends. */
export function setPageLanguageHeaders(res: Response, { messages }: PageSettings): void {
  res.set('Content-Language', messages.language.tag).vary('Accept-Language').vary('Cookie');
}

const cookieLifetimeMs = 365 * 24 * 60 * 60 * 1000;

/** Stores the language that was chosen in this browser; null removes the stored language. */
export function setLanguageCookie({ languageCookie }: PageSettings, res: Response, tag: string | null): void {
  const expires = new Date(tag === null ? 0 : Date.now() + cookieLifetimeMs);
  res.cookie(languageCookie, tag ?? '', {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: languageCookie.startsWith('__Host-'),
    expires,
  });
}

/** Handles the buttons of the language switch: stores the chosen language and uses it for this response. */
export const createLanguageSwitchButtonMiddleware =
  (settings: PageSettings): RequestHandler =>
  (req, res, next) => {
    const body: unknown = req.body;
    const tag = typeof body === 'object' && body !== null && languageParameter in body ? body[languageParameter] : undefined;
    const language = typeof tag === 'string' ? settings.languages.match(tag) : undefined;
    if (language) {
      getOauthRequestContext(req).chosenLanguage = language.tag;
      setLanguageCookie(settings, res, language.tag);
    }
    next();
  };

/** Returns whether the form was submitted by a button of the language switch. */
export const wasSubmittedByLanguageSwitch = (req: Request): boolean => getOauthRequestContext(req).chosenLanguage !== undefined;

/** Handles the links of the language switch: stores the chosen language, and redirects to the same page without the parameter. */
export const redirectToPageInChosenLanguage =
  (settings: PageSettings): RequestHandler =>
  (req, res, next) => {
    if (!req.url.includes(`${languageParameter}=`) || !safeMethods.has(req.method) || !isPage(req)) return next();
    const [path = '', query = ''] = req.url.split('?', 2);
    const parameters = new URLSearchParams(query);
    const language = settings.languages.match(parameters.get(languageParameter) ?? '');
    if (!language) return next();
    setLanguageCookie(settings, res, language.tag);
    parameters.delete(languageParameter);
    const rest = parameters.toString();
    // Browsers interpret a path that starts with two slashes or backslashes as a URL on another host.
    return res.redirect(303, `${path.replace(/^[/\\]+/, '/')}${rest === '' ? '' : `?${rest}`}`);
  };

/** Paths whose query parameters are defined by the API or a protocol. */
const protocolPath = new RegExp(
  `^(/api/|/mcp|/openapi|/\\.well-known/|/docs/|${oauthEndpointPaths.authorization}|${oauthEndpointPaths.userinfo})`,
);

const isPage = (req: Request): boolean => !protocolPath.test(req.path) && req.accepts(['json', 'html']) === 'html';
