import { z } from 'zod';
import { recordAuditEvent, sourceOf } from '../audit/record-audit-event.ts';
import { queueMail } from '../mail/mail.ts';
import { isOurForm, type AccountRequest } from './account.ts';
import { changePassword } from './accounts.ts';
import { currentSession, startSession } from './browser-session.ts';
import { byPassword } from './proofs-of-identity.ts';
import { noteBrowser } from './browser-sessions.ts';
import { endSignIns } from './end-sign-ins.ts';
import { forgetLinks } from './mailed-links.ts';
import { mailTo } from './mails.ts';
import { passwordFaults } from './new-password.ts';
import { sendPage } from './page-context.ts';
import { changePasswordPage, donePage } from './pages/account-pages.ts';
import type { Fault } from './pages/page.ts';
import { hashPassword } from './passwords.ts';

/** `GET` and `POST /account/password`. */
export const showChangePassword = (request: AccountRequest): void => render(request, []);

const passwordForm = z.object({ password: z.string().catch('') });

export async function submitChangePassword(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const { setting } = context;
  if (!isOurForm(request)) return render(request, [{ field: 'password', text: setting.words.stale }]);
  const { password } = passwordForm.parse(req.body ?? {});
  const faults = [...passwordFaults(password, account.email, setting.words)];
  if (faults.length > 0) return render(request, faults);
  const hash = await hashPassword(password);
  await context.em.transactional(async (em) => {
    const { amr = byPassword.amr, acr = byPassword.acr } = await currentSession(context.provider, req, res);
    await changePassword(em, account.id, hash, now);
    await endSignIns(em, account.id);
    await forgetLinks(em, account.id);
    const session = await startSession(context.provider, req, res, String(account.id), { amr, acr });
    await noteBrowser(em, session.uid, String(account.id), req, now);
    await recordAuditEvent(em, sourceOf(req), { action: 'password.changed', actorId: account.id, userId: account.id }, now);
    const { mail } = setting.words;
    const subject = mail.passwordChangedSubject(setting.shop.name);
    const link = `${context.provider.issuer}/password-reset`;
    await queueMail(
      em,
      context.keys.mail,
      mailTo(account.email, setting, { subject, text: mail.passwordChanged(setting.shop.name), link }),
      now,
    );
  });
  return sendPage(context, res, donePage(setting, setting.words.changePassword.doneTitle, setting.words.changePassword.done));
}

function render({ context, req, res, account }: AccountRequest, faults: readonly Fault[]): void {
  const html = changePasswordPage(context.setting, { csrf: context.forms.token(req, res), email: account.email, faults });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}
