import { encodeQR } from 'qr';
import { z } from 'zod';
import type { AuditAction } from '@mandate/contract';
import { recordAuditEvent, sourceOf } from '../../../audit/record-audit-event.ts';
import type { Em } from '../../../database/entity-manager/entity-manager.ts';
import { queueMail } from '../../../mail/mail.ts';
import { seal, unseal } from '../../../crypto/authenticated-encryption.ts';
import { lockAccountOfSession, type AccountRequest } from './require-signed-in.ts';
import {
  appAddress,
  appSince,
  forgetApp,
  keepApp,
  newAppSecret,
  newRecoveryCodes,
  recoveryCodesLeft,
  stepOf,
} from '../../second-factors/totp.ts';
import { startSession } from '../../sessions/current-session.ts';
import { byPasswordAndCode } from '../../protocol/acr-and-amr.ts';
import { noteBrowser } from '../../sessions/session-list.ts';
import { mailTo } from '../emails/render-email.ts';
import { sendPage } from '../routing/page-context.ts';
import type { Fault } from '../views/page-layout.ts';
import { recoveryCodesPage, securityPage, setUpAppPage } from '../views/security-pages.ts';
import { creationOptions, listPasskeys } from '../../second-factors/passkeys.ts';

/** Handles `GET /account/security`. */
export async function showSecurity(request: AccountRequest, faults: readonly Fault[] = []): Promise<void> {
  const { context, req, res, account, now } = request;
  const { em, setting, challenges, provider } = context;
  const html = securityPage(setting, {
    csrf: context.forms.token(req, res),
    appAddedAt: await appSince(em, account.id),
    codesLeft: await recoveryCodesLeft(em, account.id),
    passkeys: await listPasskeys(em, account.id),
    passkeyOptions: await creationOptions(em, challenges, { issuer: provider.issuer, shop: setting.shop.name }, account, now),
    faults,
  });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}

/** Handles `GET /account/authenticator-app`. */
export const showSetUpApp = (request: AccountRequest): void => renderSetUp(request, newAppSecret(), []);

const setUpForm = z.object({ sealed: z.string().max(500).catch(''), code: z.string().trim().max(40).catch('') });

/** Handles `POST /account/authenticator-app`: stores the app if the code is correct, and shows new recovery codes. */
export async function submitSetUpApp(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const { words } = context.setting;
  const { sealed, code } = setUpForm.parse(req.body ?? {});
  const secret = unseal(sealed, context.keys.secondFactor, setUpLabel(account.id));
  if (secret === undefined) return showStaleSetUpApp(request);
  const step = stepOf(secret, code, now);
  if (step === undefined) return renderSetUp(request, secret, [{ field: 'code', text: words.setUpApp.wrong }]);
  const codes = await context.em.transactional(async (em) => {
    await lockAccountOfSession(em, request);
    await keepApp(em, context.keys.secondFactor, account.id, secret, step, now);
    await tell(em, request, 'authenticator_app.added');
    // the code counts as a second factor; without the new session, the next page would require another sign-in
    const session = await startSession(context.provider, req, res, String(account.id), byPasswordAndCode);
    await noteBrowser(em, session.uid, String(account.id), req, now);
    return newRecoveryCodes(em, account.id);
  });
  return sendPage(context, res, recoveryCodesPage(context.setting, codes));
}

/** Shows the form again with a new secret, after a submission without a valid token or for another account. */
export const showStaleSetUpApp = (request: AccountRequest): void =>
  renderSetUp(request, newAppSecret(), [{ field: 'code', text: request.context.setting.words.stale }]);

const setUpLabel = (userId: number): string => `authenticator app to be of ${userId}`;

function renderSetUp({ context, req, res, account }: AccountRequest, secret: string, faults: readonly Fault[]): void {
  const { setting, keys } = context;
  const html = setUpAppPage(setting, {
    csrf: context.forms.token(req, res),
    sealed: seal(secret, keys.secondFactor, setUpLabel(account.id)),
    secret,
    picture: encodeQR(appAddress(secret, setting.shop.name, account.email), 'svg', { ecc: 'medium', border: 4 }),
    faults,
  });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}

/** Handles `POST /account/authenticator-app/remove`. */
export async function removeApp(request: AccountRequest): Promise<void> {
  const { context, res, account } = request;
  await context.em.transactional(async (em) => {
    await forgetApp(em, account.id);
    await tell(em, request, 'authenticator_app.removed');
  });
  res.redirect(303, '/account/security');
}

/** Handles `POST /account/recovery-codes`: replaces the recovery codes and shows the new ones. */
export async function renewRecoveryCodes(request: AccountRequest): Promise<void> {
  const { context, res, account } = request;
  if ((await appSince(context.em, account.id)) === undefined) return res.redirect(303, '/account/security');
  const codes = await context.em.transactional(async (em) => {
    await lockAccountOfSession(em, request);
    await tell(em, request, 'recovery_codes.created');
    return newRecoveryCodes(em, account.id);
  });
  return sendPage(context, res, recoveryCodesPage(context.setting, codes));
}

/** Audits a change of the second factor and notifies the owner by e-mail, because an intruder may have made the change. */
export async function tell(em: Em, { context, req, account, now }: AccountRequest, action: AuditAction, subject?: string): Promise<void> {
  const { setting, keys } = context;
  await recordAuditEvent(em, sourceOf(req), { action, actorId: account.id, userId: account.id, subject }, now);
  const { securityChangedSubject, securityChanged } = setting.words.mail;
  const content = { subject: securityChangedSubject(setting.shop.name), text: securityChanged(setting.shop.name) };
  await queueMail(em, keys.mail, mailTo(account.email, setting, content), now);
}
