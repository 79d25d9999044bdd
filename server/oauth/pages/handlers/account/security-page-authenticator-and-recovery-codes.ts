import { encodeQR } from 'qr';
import { z } from 'zod';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import type { EntityManager } from '../../../../database/entity-manager/entity-manager-type.ts';
import { queueMail } from '../../../../mail/queue-mail.ts';
import { encryptText, decryptText } from '../../../../crypto/authenticated-encryption.ts';
import { lockAccountAndRequireActiveSession, type AccountRequest } from './signed-in-page-guards.ts';
import {
  createTotpUri,
  findWhenAuthenticatorAppWasAdded,
  deleteAuthenticatorAppAndRecoveryCodes,
  saveAuthenticatorApp,
  generateTotpSecret,
  replaceRecoveryCodes,
  countRecoveryCodes,
  matchTotpTimeStep,
} from '../../../second-factors/authenticator-app-and-recovery-codes.ts';
import { User } from '../../../../users/user.entity.ts';
import { canRoleUseProvider } from '../../../identity-providers/provider-identity-and-access-rules.ts';
import { listEnabledProviders, listLinkedAccounts } from '../../../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { getBrowserSessionOfRequest, startBrowserSession } from '../../../sessions/load-start-and-end-browser-session.ts';
import { addAuthenticatorCodeToAcrAndAmr, passwordAcrAndAmr } from '../../../protocol/acr-and-amr.ts';
import { findLinkedAccountOfSession, recordBrowserSessionUse } from '../../../sessions/record-list-and-revoke-browser-sessions.ts';
import { renderSecurityChangeEmail, type SecurityChange } from '../../emails/render-security-change-email.ts';
import { createPageSecurityHeaders } from '../../assets/page-security-headers.ts';
import { sendPage } from '../../routing/page-context.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { recoveryCodesPage, securityPage, authenticatorAppSetupPage } from '../../views/account/security-pages.ts';
import { translateDeviceDescription } from '../../views/account/translate-device-description.ts';
import { describeUserAgent } from '../../../sessions/describe-user-agent.ts';
import { createPasskeyCreationOptionsJson, listPasskeys } from '../../../second-factors/passkeys.ts';

/** Handles `GET /account/security`. */
export async function showSecurityPage(request: AccountRequest, faults: readonly FieldError[] = []): Promise<void> {
  const { context, req, res, account, now } = request;
  const { em, settings, challenges, provider } = context;
  const { role } = await em.findOneOrFail(User, { id: account.id }, { fields: ['role'], disableIdentityMap: true });
  const device = describeUserAgent(req.headers['user-agent']);
  const html = securityPage(settings, {
    csrf: context.forms.issue(req, res),
    appAddedAt: await findWhenAuthenticatorAppWasAdded(em, account.id),
    codesLeft: await countRecoveryCodes(em, account.id),
    passkeys: await listPasskeys(em, account.id),
    passkeyName: device === null ? settings.messages.security.passkeyDefault : translateDeviceDescription(settings, device),
    linkedAccounts: await listLinkedAccounts(em, account.id),
    providers: (await listEnabledProviders(em)).filter((one) => canRoleUseProvider(one, role)),
    passkeyOptions: await createPasskeyCreationOptionsJson(
      em,
      challenges,
      { issuer: provider.issuer, shop: settings.shop.name },
      account,
      now,
    ),
    faults,
  });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}

/** Handles `GET /account/authenticator-app`. */
export const showAuthenticatorSetup = (request: AccountRequest): void => renderSetUp(request, generateTotpSecret(), []);

const setUpForm = z.object({ sealed: z.string().max(500).catch(''), code: z.string().trim().max(40).catch('') });

/** Handles `POST /account/authenticator-app`: stores the app if the code is correct, and shows new recovery codes. */
export async function submitAuthenticatorSetup(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const { messages } = context.settings;
  const { sealed, code } = setUpForm.parse(req.body ?? {});
  const secret = decryptText(sealed, context.keys.secondFactor, setUpLabel(account.id));
  if (secret === undefined) return restartAuthenticatorSetup(request);
  const step = matchTotpTimeStep(secret, code, now);
  if (step === undefined) return renderSetUp(request, secret, [{ field: 'code', text: messages.setUpApp.wrong }]);
  const codes = await context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    await saveAuthenticatorApp(em, context.keys.secondFactor, account.id, secret, step, now);
    await auditSecondFactorChangeAndEmailUser(em, request, 'authenticator_app.added');
    // The code counts as a second factor. Without a new session, the next page would require another sign-in.
    const { amr = passwordAcrAndAmr.amr, loginTs, uid } = getBrowserSessionOfRequest(req);
    const signIn = await findLinkedAccountOfSession(em, uid);
    const proof = { ...addAuthenticatorCodeToAcrAndAmr(amr), loginTs };
    const session = await startBrowserSession(context, req, res, String(account.id), proof);
    await recordBrowserSessionUse(em, session.uid, String(account.id), req, now, signIn);
    return replaceRecoveryCodes(em, account.id);
  });
  return sendRecoveryCodes(request, codes);
}

/** Shows the form again with a new secret, after a submission without a valid CSRF token or for a different account. */
export const restartAuthenticatorSetup = (request: AccountRequest): void =>
  renderSetUp(request, generateTotpSecret(), [{ field: 'code', text: request.context.settings.messages.stale }]);

const setUpLabel = (userId: number): string => `authenticator app to be of ${userId}`;

function renderSetUp({ context, req, res, account }: AccountRequest, secret: string, faults: readonly FieldError[]): void {
  const { settings, keys } = context;
  const uri = createTotpUri(secret, settings.shop.name, account.email);
  const html = authenticatorAppSetupPage(settings, {
    csrf: context.forms.issue(req, res),
    sealed: encryptText(secret, keys.secondFactor, setUpLabel(account.id)),
    secret,
    uri,
    picture: encodeQR(uri, 'svg', { ecc: 'medium', border: 4 }),
    faults,
  });
  sendPage(context, res, html, { status: faults.length > 0 ? 400 : 200 });
}

/** Handles `POST /account/authenticator-app/remove`. */
export async function submitAuthenticatorAppRemoval(request: AccountRequest): Promise<void> {
  const { context, res, account } = request;
  await context.em.transactional(async (em) => {
    await deleteAuthenticatorAppAndRecoveryCodes(em, account.id);
    await auditSecondFactorChangeAndEmailUser(em, request, 'authenticator_app.removed');
  });
  res.redirect(303, '/account/security');
}

/** Handles `POST /account/recovery-codes`: replaces the recovery codes and shows the new codes. */
export async function submitRecoveryCodeRenewal(request: AccountRequest): Promise<void> {
  const { context, res, account } = request;
  if ((await findWhenAuthenticatorAppWasAdded(context.em, account.id)) === undefined) return res.redirect(303, '/account/security');
  const codes = await context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    await auditSecondFactorChangeAndEmailUser(em, request, 'recovery_codes.created');
    return replaceRecoveryCodes(em, account.id);
  });
  return sendRecoveryCodes(request, codes);
}

const codesLabel = (userId: number): string => `recovery codes shown to ${userId}`;

/** Encrypts the recovery codes that a page shows, so that the page can contain the codes and show them again in a different language. */
export const encryptShownRecoveryCodes = (key: Buffer, userId: number, codes: readonly string[]): string =>
  encryptText(JSON.stringify(codes), key, codesLabel(userId));

function sendRecoveryCodes({ context, req, res, account }: AccountRequest, codes: readonly string[]): void {
  const sealed = encryptShownRecoveryCodes(context.keys.secondFactor, account.id, codes);
  sendPage(context, res, recoveryCodesPage(context.settings, { csrf: context.forms.issue(req, res), codes, sealed }));
}

const shownCodesForm = z.object({ sealed: z.string().max(2000).catch('') });

/** Returns the recovery codes that the submitted page shows, or undefined if the page belongs to a different account. */
function readShownRecoveryCodes({ context, req, account }: AccountRequest): string[] | undefined {
  const { sealed } = shownCodesForm.parse(req.body ?? {});
  const codes = decryptText(sealed, context.keys.secondFactor, codesLabel(account.id));
  return codes === undefined ? undefined : z.array(z.string()).parse(JSON.parse(codes));
}

/** Handles `POST /account/recovery-codes/shown`: shows the recovery codes again in the language that the user has selected. */
export function showRecoveryCodesInChosenLanguage(request: AccountRequest): void {
  const codes = readShownRecoveryCodes(request);
  if (codes === undefined) return request.res.redirect(303, '/account/security');
  return sendRecoveryCodes(request, codes);
}

/** Handles `POST /account/recovery-codes/file`: sends the shown recovery codes as a text file. */
export function downloadRecoveryCodes(request: AccountRequest): void {
  const { context, res, account } = request;
  const codes = readShownRecoveryCodes(request);
  if (codes === undefined) return res.redirect(303, '/account/security');
  const { shop, messages } = context.settings;
  const lines = [`${shop.name}: ${messages.security.codesTitle}`, account.email, '', ...codes];
  res
    .set(createPageSecurityHeaders(context.provider.issuer))
    .attachment('recovery-codes.txt')
    .type('text/plain')
    .send(`${lines.join('\r\n')}\r\n`);
}

/** Records a second-factor change in the audit log and notifies the owner by e-mail, because an intruder may have made the change. */
export async function auditSecondFactorChangeAndEmailUser(
  em: EntityManager,
  { context, req, account, now }: AccountRequest,
  action: SecurityChange,
  subject?: string,
): Promise<void> {
  await recordAuditEvent(em, getClientAddressAndUserAgent(req), { action, actorId: account.id, userId: account.id, subject }, now);
  await queueMail(em, context.keys.mail, renderSecurityChangeEmail(context, account, { action, req, now }), now);
}
