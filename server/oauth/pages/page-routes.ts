import type express from 'express';
import { recordAuditEvent, sourceOf } from '../../audit/record-audit-event.ts';
import { showAccount, withAccount } from './handlers/require-signed-in.ts';
import { showConsent, submitConsent } from './handlers/handle-consent.ts';
import { showApiKeys, submitApiKeys } from './handlers/account-api-keys.ts';
import { showApps, showSessions, submitApps, submitSessions } from './handlers/revoke-sessions-and-apps.ts';
import { showChangeEmail, showConfirmEmail, showStaleChangeEmail, submitChangeEmail, submitConfirmEmail } from './handlers/change-email.ts';
import { showChangePassword, showStaleChangePassword, submitChangePassword } from './handlers/change-password.ts';
import { showCloseAccount, submitCloseAccount } from './handlers/close-account.ts';
import { currentSession, endSession } from '../sessions/current-session.ts';
import {
  removeApp,
  renewRecoveryCodes,
  showSecurity,
  showSetUpApp,
  showStaleSetUpApp,
  submitSetUpApp,
} from './handlers/change-second-factor.ts';
import { showStaleNewPasskey, submitNewPasskey, submitRemovePasskey } from './handlers/change-passkeys.ts';
import { sendPage, type PageContext } from './routing/page-context.ts';
import { PageRouter } from './routing/page-router.ts';
import { signedOutPage } from './views/message-pages.ts';
import {
  showNewPassword,
  showPasswordReset,
  showStaleNewPassword,
  showStalePasswordReset,
  submitNewPassword,
  submitPasswordReset,
} from './handlers/reset-password.ts';
import {
  showSignIn,
  showStaleSecondFactor,
  showStaleSignIn,
  submitEmailCode,
  submitPasskey,
  submitSecondFactor,
  submitSignIn,
} from './handlers/sign-in.ts';
import {
  showConfirmSignUp,
  showSignUp,
  showStaleConfirmSignUp,
  showStaleSignUp,
  submitConfirmSignUp,
  submitSignUp,
} from './handlers/sign-up.ts';

/** Registers all pages and forms. The second handler of a form receives submissions without a valid token. */
export function pageRoutes(context: PageContext, requireHost: express.RequestHandler): PageRouter {
  const pages = new PageRouter(context, requireHost);
  addSignInPages(pages, context);
  addAccountPages(pages, context);
  return pages;
}

function addSignInPages(pages: PageRouter, context: PageContext): void {
  pages
    .page(['/sign-in/passkey', '/sign-in/second-factor', '/sign-in/e-mail-code'], redirectTo('/sign-in'))
    .page(['/sign-in/:uid/passkey', '/sign-in/:uid/second-factor', '/sign-in/:uid/e-mail-code'], ({ path }, res) =>
      res.redirect(303, path.slice(0, path.lastIndexOf('/'))),
    )
    .page(['/sign-in', '/sign-in/:uid'], showSignIn(context))
    .form(['/sign-in/passkey', '/sign-in/:uid/passkey'], submitPasskey(context), showStaleSignIn(context))
    .form(['/sign-in/second-factor', '/sign-in/:uid/second-factor'], submitSecondFactor(context), showStaleSecondFactor(context))
    .form(['/sign-in/e-mail-code', '/sign-in/:uid/e-mail-code'], submitEmailCode(context), showStaleSecondFactor(context))
    .form(['/sign-in', '/sign-in/:uid'], submitSignIn(context), showStaleSignIn(context))
    .page(['/sign-up', '/sign-in/:uid/sign-up'], showSignUp(context))
    .form(['/sign-up', '/sign-in/:uid/sign-up'], submitSignUp(context), showStaleSignUp(context))
    .page(['/sign-up/confirm', '/sign-in/:uid/sign-up/confirm'], showConfirmSignUp(context))
    .form(['/sign-up/confirm', '/sign-in/:uid/sign-up/confirm'], submitConfirmSignUp(context), showStaleConfirmSignUp(context))
    .page('/password-reset', showPasswordReset(context))
    .form('/password-reset', submitPasswordReset(context), showStalePasswordReset(context))
    .page('/password-reset/confirm', showNewPassword(context))
    .form('/password-reset/confirm', submitNewPassword(context), showStaleNewPassword(context))
    .page('/consent/:uid', showConsent(context))
    .form('/consent/:uid', submitConsent(context), showConsent(context))
    .form('/sign-out', signOut(context), redirectTo('/account'));
}

function addAccountPages(pages: PageRouter, context: PageContext): void {
  const { requireSignedIn, requireRecentSignIn } = withAccount(context);
  pages
    .page('/account', requireSignedIn(showAccount))
    .page('/account/password', requireRecentSignIn(showChangePassword))
    .form('/account/password', requireRecentSignIn(submitChangePassword), requireRecentSignIn(showStaleChangePassword))
    .page('/account/email', requireRecentSignIn(showChangeEmail))
    .form('/account/email', requireRecentSignIn(submitChangeEmail), requireRecentSignIn(showStaleChangeEmail))
    .page('/account/email/confirm', showConfirmEmail(context))
    .form('/account/email/confirm', submitConfirmEmail(context), showConfirmEmail(context))
    .page('/account/sessions', requireSignedIn(showSessions))
    .form('/account/sessions', requireSignedIn(submitSessions), redirectTo('/account/sessions'))
    .page('/account/apps', requireSignedIn(showApps))
    .form('/account/apps', requireSignedIn(submitApps), redirectTo('/account/apps'))
    .page('/account/api-keys', requireSignedIn(showApiKeys))
    .form('/account/api-keys', requireSignedIn(submitApiKeys), redirectTo('/account/api-keys'))
    .page('/account/security', requireRecentSignIn(showSecurity))
    .page('/account/authenticator-app', requireRecentSignIn(showSetUpApp))
    .form('/account/authenticator-app', requireRecentSignIn(submitSetUpApp), requireRecentSignIn(showStaleSetUpApp))
    .form('/account/authenticator-app/remove', requireRecentSignIn(removeApp), redirectTo('/account/security'))
    .form('/account/recovery-codes', requireRecentSignIn(renewRecoveryCodes), redirectTo('/account/security'))
    .form('/account/passkeys', requireRecentSignIn(submitNewPasskey), requireRecentSignIn(showStaleNewPasskey))
    .form('/account/passkeys/remove', requireRecentSignIn(submitRemovePasskey), redirectTo('/account/security'))
    .page('/account/close', requireRecentSignIn(showCloseAccount))
    .form('/account/close', requireRecentSignIn(submitCloseAccount), redirectTo('/account/close'));
}

const redirectTo =
  (path: string): express.RequestHandler =>
  (_req, res) =>
    res.redirect(303, path);

const signOut =
  (context: PageContext): express.RequestHandler =>
  async (req, res) => {
    await context.em.transactional(async (em) => {
      const { accountId } = await currentSession(context.provider, req, res);
      await endSession(context.provider, req, res);
      if (accountId === undefined) return;
      const userId = Number(accountId);
      await recordAuditEvent(em, sourceOf(req), { action: 'session.ended', actorId: userId, userId }, new Date());
    });
    return sendPage(context, res, signedOutPage(context.setting));
  };
