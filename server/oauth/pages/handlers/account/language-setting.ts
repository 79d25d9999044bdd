import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import { recordEvent } from '../../../../events/record-event.ts';
import { userFromEntity } from '../../../../users/user-from-entity.ts';
import { User } from '../../../../users/user.entity.ts';
import { sendPage } from '../../routing/page-context.ts';
import { setLanguageCookie } from '../../views/select-and-store-page-language.ts';
import { changeLanguagePage, languageChangedPage } from '../../views/account/language-page.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { lockAccountAndRequireActiveSession, type AccountRequest } from './signed-in-page-guards.ts';

const languageForm = z.object({ locale: z.string().max(35).catch('unknown') });

/** Handles `GET /account/language`. */
export const showLanguageSetting = (request: AccountRequest): void => renderForm(request, []);

/** Handles `POST /account/language`: stores the language, or removes the setting if the user chose the language of the browser. */
export async function submitLanguageSetting(request: AccountRequest): Promise<void> {
  const { context, req, res, account } = request;
  const { settings } = context;
  const { locale } = languageForm.parse(req.body ?? {});
  const language = settings.languages.all.find(({ tag }) => tag === locale);
  if (language === undefined && locale !== '')
    return renderForm(request, [{ field: 'locale', text: settings.messages.changeLanguage.unknown }]);
  const tag = language?.tag ?? null;
  await context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    const user = await em.findOneOrFail(User, { id: account.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if ((user.locale ?? null) === tag) return;
    user.locale = tag;
    await em.flush();
    await recordEvent(em, 'user.updated', userFromEntity(user), user.id);
  });
  // A language chosen earlier in this browser would otherwise override the new setting.
  setLanguageCookie(settings, res, null);
  const page = language ? { ...settings, messages: language.messages } : settings;
  return sendPage({ ...context, settings: page }, res, languageChangedPage(page));
}

/** Shows the form again after a submission without a valid CSRF token. */
export const showLanguageSettingOnCsrfError = (request: AccountRequest): void =>
  renderForm(request, [{ field: 'locale', text: request.context.settings.messages.stale }]);

function renderForm({ context, req, res, account }: AccountRequest, faults: readonly FieldError[]): void {
  const { settings } = context;
  const html = changeLanguagePage(settings, { csrf: context.forms.issue(req, res), locale: account.locale, faults });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}
