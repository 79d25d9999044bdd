import { z } from 'zod';
import { listActiveApiKeysOfUser } from '../../../../api-keys/list-active-and-latest-past-api-keys-of-user.ts';
import { revokeApiKeys } from '../../../../api-keys/revoke-api-keys.ts';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import { queueMail } from '../../../../mail/queue-mail.ts';
import { lockAccountAndRequireActiveSession, type AccountRequest } from './signed-in-page-guards.ts';
import { storePasswordHash } from '../../../accounts/accounts-and-passwords.ts';
import { loadOrCreateBrowserSession, startBrowserSession } from '../../../sessions/load-start-and-end-browser-session.ts';
import { passwordAcrAndAmr } from '../../../protocol/acr-and-amr.ts';
import { findLinkedAccountOfSession, recordBrowserSessionUse } from '../../../sessions/record-list-and-revoke-browser-sessions.ts';
import { revokeGrantsAndSessionsOfUser } from '../../../grants/revoke-grants-and-sessions-of-user.ts';
import { deleteEmailedLinksOfUser } from '../../../accounts/emailed-one-time-links.ts';
import { describeChangeTimeAndSource } from '../../emails/describe-change-time-and-source.ts';
import { sanitizeNameForEmail, renderEmail } from '../../emails/render-email.ts';
import { validateAndHashNewPassword } from '../sign-in/validate-and-hash-new-password.ts';
import { sendPage } from '../../routing/page-context.ts';
import { localizePageSettingsForEmailToUser } from '../../views/select-and-store-page-language.ts';
import { changePasswordPage, passwordChangedPage } from '../../views/account/account-subpage-layout-and-basic-forms.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';

/** Handles `GET /account/password`. */
export const showChangePassword = (request: AccountRequest): Promise<void> => renderForm(request, []);

const passwordForm = z.object({ password: z.string().catch(''), revoke_keys: z.literal('yes').optional().catch(undefined) });

/** Handles `POST /account/password`: changes the password, signs out everywhere else and notifies the owner. */
export async function submitChangePassword(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const { settings } = context;
  const { password, revoke_keys: revokeKeys } = passwordForm.parse(req.body ?? {});
  const revokesKeys = revokeKeys !== undefined;
  const chosen = await validateAndHashNewPassword(password, account, settings);
  if ('reason' in chosen) return renderForm(request, [{ field: 'password', text: chosen.reason }], revokesKeys);
  const apiKeys = await context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    // The session keeps its sign-in time and methods, because setting a password does not authenticate the user.
    const {
      amr = passwordAcrAndAmr.amr,
      acr = passwordAcrAndAmr.acr,
      loginTs,
      uid,
    } = await loadOrCreateBrowserSession(context.provider, req, res);
    const signIn = await findLinkedAccountOfSession(em, uid);
    await storePasswordHash(em, account.id, chosen.hash, now);
    await revokeGrantsAndSessionsOfUser(em, account.id);
    await deleteEmailedLinksOfUser(em, account.id);
    const session = await startBrowserSession(context, req, res, String(account.id), { amr, acr, loginTs });
    await recordBrowserSessionUse(em, session.uid, String(account.id), req, now, signIn);
    await recordAuditEvent(
      em,
      getClientAddressAndUserAgent(req),
      { action: 'password.changed', actorId: account.id, userId: account.id },
      now,
    );
    const active = await listActiveApiKeysOfUser(em, account.id, now);
    const cause = { source: getClientAddressAndUserAgent(req), actorId: account.id, reason: 'password_changed' } as const;
    if (revokesKeys) await revokeApiKeys(em, { userId: account.id }, cause, now);
    const mailSettings = localizePageSettingsForEmailToUser(settings, account.locale);
    const { mail, credential } = mailSettings.messages;
    const shop = settings.shop.name;
    const revoked = revokesKeys ? active.map(({ name, prefix }) => credential.apiKey({ name: sanitizeNameForEmail(name), prefix })) : [];
    const lists = [
      ...(revoked.length > 0 ? [{ title: mail.keysRevoked, items: revoked }] : []),
      describeChangeTimeAndSource(mailSettings, now, req),
    ];
    const subject = mail.passwordChangedSubject({ shop });
    const button = { url: `${context.provider.issuer}/password-reset`, label: 'choosePassword' } as const;
    await queueMail(
      em,
      context.keys.mail,
      renderEmail(account.email, mailSettings, {
        subject,
        text: mail.passwordChanged({ shop }),
        lists,
        advice: mail.passwordAdvice,
        button,
      }),
      now,
    );
    return active.length;
  });
  context.knownBrowsers.remember(req, res, account.id, now);
  return sendPage(context, res, passwordChangedPage(settings, apiKeys, revokesKeys));
}

/** Shows the form again after a submission without a valid CSRF token. */
export const showChangePasswordOnCsrfError = (request: AccountRequest): Promise<void> =>
  renderForm(request, [{ field: 'password', text: request.context.settings.messages.stale }]);

async function renderForm(
  { context, req, res, account, now }: AccountRequest,
  faults: readonly FieldError[],
  revokesKeys = false,
): Promise<void> {
  const apiKeys = await listActiveApiKeysOfUser(context.em, account.id, now);
  const csrf = context.forms.issue(req, res);
  const html = changePasswordPage(context.settings, { csrf, email: account.email, faults, apiKeys, revokesKeys });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}
