import { contract } from '@mandate/contract';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { recordAuditEvent, sourceOf } from '../audit/record-audit-event.ts';
import { queueMail } from '../mail/mail.ts';
import { changePassword, readAccount } from './accounts.ts';
import { endApiKeys, endSignIns } from './end-sign-ins.ts';
import { forgetLinks, lookAtLink, useLink } from './mailed-links.ts';
import { mailTo } from './mails.ts';
import { passwordFaults } from './new-password.ts';
import { sendPage, type PageContext } from './page-context.ts';
import { linkOverPage, mailSentPage, newPasswordPage, passwordResetPage } from './pages/mail-pages.ts';
import type { Fault } from './pages/page.ts';
import { noticePage, signInLinkPage } from './pages/plain-pages.ts';
import { hashPassword } from './passwords.ts';
import { requestLink } from './request-link.ts';

const { email: validEmail } = contract.users.create.body.shape;
const addressForm = z.object({ csrf: z.string().catch(''), email: z.string().catch('') });
const passwordForm = z.object({ csrf: z.string().catch(''), password: z.string().catch('') });

/** `GET` and `POST /password-reset`. */
export const showPasswordReset = (context: PageContext) => async (req: Request, res: Response) => render(context, req, res, '', []);

export const submitPasswordReset = (context: PageContext) => async (req: Request, res: Response) => {
  const { words } = context.setting;
  const { csrf, email } = addressForm.parse(req.body ?? {});
  if (!context.forms.accepts(req, csrf)) return render(context, req, res, email, [{ field: 'email', text: words.stale }]);
  const address = validEmail.safeParse(email);
  if (!address.success) return render(context, req, res, email, [{ field: 'email', text: words.signUp.emailInvalid }]);
  if (!context.canMail) return sendPage(context, res, noticePage(context.setting, words.noMail.title, words.noMail.text), { status: 503 });
  await context.limits.begin('mail', address.data.toLowerCase(), req.ip);
  await requestLink(context, 'password_reset', address.data, '', new Date());
  return sendPage(context, res, mailSentPage(context.setting, address.data, '/password-reset'));
};

const tokenOf = (req: Request): string => z.string().max(200).catch('').parse(req.query['token']);

/** `GET` and `POST /password-reset/confirm`: somebody follows the link in the message. */
export const showNewPassword = (context: PageContext) => async (req: Request, res: Response) => {
  const link = await lookAtLink(context.em, 'password_reset', tokenOf(req), new Date());
  if (!link) return linkOver(context, res);
  const html = newPasswordPage(context.setting, { csrf: context.forms.token(req, res), email: link.email, faults: [] });
  return sendPage(context, res, html);
};

export const submitNewPassword = (context: PageContext) => async (req: Request, res: Response) => {
  const { em, setting } = context;
  const link = await lookAtLink(em, 'password_reset', tokenOf(req), new Date());
  if (!link) return linkOver(context, res);
  const { csrf, password } = passwordForm.parse(req.body ?? {});
  const faults: Fault[] = context.forms.accepts(req, csrf)
    ? [...passwordFaults(password, link.email, setting.words)]
    : [{ field: 'password', text: setting.words.stale }];
  if (faults.length > 0) {
    const html = newPasswordPage(setting, { csrf: context.forms.token(req, res), email: link.email, faults });
    return sendPage(context, res, html, { status: 400 });
  }
  const done = await setPassword(context, req, await hashPassword(password));
  if (!done) return linkOver(context, res);
  const { doneTitle, done: text } = setting.words.passwordReset;
  return sendPage(context, res, signInLinkPage(setting, doneTitle, text));
};

/** Somebody else may have had the account: whatever lets anybody in ends. `false` when the link is over. */
async function setPassword(context: PageContext, req: Request, passwordHash: string): Promise<boolean> {
  const { setting, keys } = context;
  const now = new Date();
  return context.em.transactional(async (em) => {
    const link = await useLink(em, 'password_reset', tokenOf(req), now);
    const account = link?.userId == null ? undefined : await readAccount(em, String(link.userId));
    if (!account) return false;
    const userId = account.id;
    await changePassword(em, userId, passwordHash, now);
    await endSignIns(em, userId);
    await endApiKeys(em, userId, now);
    await forgetLinks(em, userId);
    await recordAuditEvent(em, sourceOf(req), { action: 'password.reset', actorId: userId, userId }, now);
    const { mail } = setting.words;
    const subject = mail.passwordChangedSubject(setting.shop.name);
    const link2 = `${context.provider.issuer}/password-reset`;
    await queueMail(
      em,
      keys.mail,
      mailTo(account.email, setting, { subject, text: mail.passwordChanged(setting.shop.name), link: link2 }),
      now,
    );
    return true;
  });
}

const linkOver = (context: PageContext, res: Response): void =>
  sendPage(context, res, linkOverPage(context.setting, '/password-reset'), { status: 400 });

function render(context: PageContext, req: Request, res: Response, email: string, faults: readonly Fault[]): void {
  const html = passwordResetPage(context.setting, { csrf: context.forms.token(req, res), email, faults });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}
