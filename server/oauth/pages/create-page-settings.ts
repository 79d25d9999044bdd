import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { LastReadBranding } from '../../branding/last-read-branding.ts';
import type { Languages } from '../../languages/languages.ts';
import { cookieNamesForIssuer } from '../protocol/cookie-names.ts';
import { basePathFromIssuer } from '../protocol/endpoint-paths-and-audiences.ts';
import { stylesheetPathFromAccentColor } from './assets/build-and-serve-page-stylesheet.ts';
import { pageEnhancementScript } from './assets/page-enhancement-script.ts';
import type { PageSettings } from './views/page-layout-and-form-fields.ts';

/** Creates the settings that all pages share. `shop` and `stylesheetPathFromAccentColor` always reflect the most recently read branding. */
export const createSettingsSharedByAllPages = (
  em: EntityManager,
  branding: LastReadBranding,
  issuer: string,
  languages: Languages,
): PageSettings => ({
  get shop() {
    return branding.current;
  },
  get stylesheetPathFromAccentColor() {
    return stylesheetPathFromAccentColor(branding.current.accent_color);
  },
  refreshBranding: () => branding.refresh(em),
  messages: languages.default.messages,
  languages,
  languageCookie: cookieNamesForIssuer(issuer).language,
  timeZoneCookie: cookieNamesForIssuer(issuer).timeZone,
  scriptPath: pageEnhancementScript.path,
  base: basePathFromIssuer(issuer),
  issuer,
});
