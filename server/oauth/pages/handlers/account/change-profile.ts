import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import { recordEvent } from '../../../../events/record-event.ts';
import { userFromEntity } from '../../../../users/user-from-entity.ts';
import { User } from '../../../../users/user.entity.ts';
import { sendPage } from '../../routing/page-context.ts';
import { profileChangedPage, profilePage } from '../../views/account/profile-page.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { createUserNameError, userNameSchema } from '../user-name-schema-and-error.ts';
import { lockAccountAndRequireActiveSession, type AccountRequest } from './signed-in-page-guards.ts';

const profileForm = z.object({ name: z.string().catch('') });

/** Handles `GET /account/profile`. */
export const showProfile = (request: AccountRequest): void => renderForm(request, request.account.name, []);

/** Handles `POST /account/profile`: changes the name. */
export async function submitProfile(request: AccountRequest): Promise<void> {
  const { context, req, res, account } = request;
  const { name } = profileForm.parse(req.body ?? {});
  const validated = userNameSchema.safeParse(name);
  if (!validated.success) return renderForm(request, name, [createUserNameError(name, context.settings.messages)]);
  await context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    const user = await em.findOneOrFail(User, { id: account.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (user.name === validated.data) return;
    user.name = validated.data;
    await em.flush();
    await recordEvent(em, 'user.updated', userFromEntity(user), user.id);
  });
  return sendPage(context, res, profileChangedPage(context.settings, validated.data));
}

/** Shows the form again after a submission without a valid CSRF token. */
export function showProfileOnCsrfError(request: AccountRequest): void {
  const { name } = profileForm.parse(request.req.body ?? {});
  renderForm(request, name, [{ field: 'name', text: request.context.settings.messages.stale }]);
}

function renderForm({ context, req, res, account }: AccountRequest, name: string, faults: readonly FieldError[]): void {
  const { settings } = context;
  const languageName = account.locale === null ? undefined : settings.languages.match(account.locale)?.messages.language.name;
  const content = { csrf: context.forms.issue(req, res), name, email: account.email, languageName, faults };
  sendPage(context, res, profilePage(settings, content), { status: faults.length > 0 ? 400 : 200 });
}
