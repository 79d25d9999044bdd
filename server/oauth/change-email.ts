import { contract, type User } from '@mandate/contract';
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { recordAuditEvent, sourceOf } from '../audit/record-audit-event.ts';
import { constraintOf } from '../database/sql-state.ts';
import { statement } from '../database/statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { queueMail } from '../mail/mail.ts';
import { toUser, userColumns } from '../users/user-body.ts';
import { isOurForm, type AccountRequest } from './account.ts';
import { readAccount } from './accounts.ts';
import { forgetLinks, lookAtLink, newLinkToken, useLink } from './mailed-links.ts';
import { mailTo } from './mails.ts';
import { sendPage, type PageContext } from './page-context.ts';
import { changeEmailPage, donePage } from './pages/account-pages.ts';
import { confirmEmailPage, linkOverPage, mailSentPage } from './pages/mail-pages.ts';
import type { Fault } from './pages/page.ts';
import { noticePage } from './pages/plain-pages.ts';

const { email: validEmail } = contract.users.create.body.shape;
const emailForm = z.object({ email: z.string().catch('') });

/** `GET` and `POST /account/email`. */
export const showChangeEmail = (request: AccountRequest): void => render(request, '', []);

export async function submitChangeEmail(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const { words } = context.setting;
  const { email } = emailForm.parse(req.body ?? {});
  const answer = (text: string) => render(request, email, [{ field: 'email', text }]);
  if (!isOurForm(request)) return answer(words.stale);
  const address = validEmail.safeParse(email);
  if (!address.success) return answer(words.signUp.emailInvalid);
  if (address.data === account.email) return answer(words.changeEmail.same);
  if (!context.canMail) return sendPage(context, res, noticePage(context.setting, words.noMail.title, words.noMail.text), { status: 503 });
  await context.limits.begin('mail', address.data.toLowerCase(), req.ip);
  await sendLink(context, account.id, address.data, now);
  return sendPage(context, res, mailSentPage(context.setting, address.data, '/account/email'));
}

const findOther = statement<{ id: number }>(
  'other_owner_of_address',
  `select id from users where lower(email) = lower($1) and status <> 'closed' and id <> $2`,
);

/** The answer is the same whether the address is somebody else's; only who reads the message learns it. */
async function sendLink({ em, setting, keys, provider }: PageContext, userId: number, email: string, now: Date): Promise<void> {
  const { mail } = setting.words;
  const shop = setting.shop.name;
  await em.transactional(async (inner) => {
    const taken = (await findOther(inner, [email, userId])).length > 0;
    const token = await newLinkToken(inner, { purpose: 'email_change', email, userId }, now);
    const content = taken
      ? { subject: mail.addressTakenSubject(shop), text: mail.addressTaken(shop) }
      : {
          subject: mail.newAddressSubject(shop),
          text: mail.newAddress(shop),
          link: `${provider.issuer}/account/email/confirm?token=${token}`,
          ignore: true,
        };
    await queueMail(inner, keys.mail, mailTo(email, setting, content), now);
  });
}

const tokenOf = (req: Request): string => z.string().max(200).catch('').parse(req.query['token']);
const confirmForm = z.object({ csrf: z.string().catch('') });

/** `GET` and `POST /account/email/confirm`: somebody follows the link in the message. */
export const showConfirmEmail = (context: PageContext) => async (req: Request, res: Response) => {
  const link = await lookAtLink(context.em, 'email_change', tokenOf(req), new Date());
  if (!link) return linkOver(context, res);
  return sendPage(context, res, confirmEmailPage(context.setting, { csrf: context.forms.token(req, res), email: link.email }));
};

export const submitConfirmEmail = (context: PageContext) => async (req: Request, res: Response) => {
  if (!context.forms.accepts(req, confirmForm.parse(req.body ?? {}).csrf)) return showConfirmEmail(context)(req, res);
  const email = await useAddress(context, req).catch((error: unknown) => {
    const taken = constraintOf(error) === 'users_email_unique' || error instanceof UniqueConstraintViolationException;
    if (!taken) throw error;
  });
  if (email === undefined) return linkOver(context, res);
  const { doneTitle, done } = context.setting.words.changeEmail;
  return sendPage(context, res, donePage(context.setting, doneTitle, done(email)));
};

const putAddress = statement<User>(
  'change_email',
  `update users set email = $2, version = version + 1, updated_at = $3 where id = $1 returning ${userColumns}`,
);

async function useAddress(context: PageContext, req: Request): Promise<string | undefined> {
  const { setting, keys } = context;
  const now = new Date();
  return context.em.transactional(async (em) => {
    const link = await useLink(em, 'email_change', tokenOf(req), now);
    const account = link?.userId == null ? undefined : await readAccount(em, String(link.userId));
    if (!link || !account) return undefined;
    const [changed] = await putAddress(em, [account.id, link.email, now]);
    if (!changed) return undefined;
    await recordEvent(em, 'user.updated', toUser(changed), account.id);
    await forgetLinks(em, account.id);
    await recordAuditEvent(em, sourceOf(req), { action: 'email.changed', actorId: account.id, userId: account.id }, now);
    const { mail } = setting.words;
    const subject = mail.addressChangedSubject(setting.shop.name);
    const text = mail.addressChanged(setting.shop.name, link.email);
    await queueMail(em, keys.mail, mailTo(account.email, setting, { subject, text }), now); // to the old one
    return link.email;
  });
}

const linkOver = (context: PageContext, res: Response): void =>
  sendPage(context, res, linkOverPage(context.setting, '/account/email'), { status: 400 });

function render({ context, req, res, account }: AccountRequest, typed: string, faults: readonly Fault[]): void {
  const html = changeEmailPage(context.setting, { csrf: context.forms.token(req, res), email: account.email, typed, faults });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}
