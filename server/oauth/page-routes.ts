import express from 'express';
import { z } from 'zod';
import { recordAuditEvent, sourceOf } from '../audit/record-audit-event.ts';
import { showAccount, withAccount } from './account.ts';
import { showConsent, submitConsent } from './ask-consent.ts';
import { showApps, showSessions, submitApps, submitSessions } from './account-access.ts';
import { showChangeEmail, showConfirmEmail, submitChangeEmail, submitConfirmEmail } from './change-email.ts';
import { showChangePassword, submitChangePassword } from './change-password.ts';
import { showCloseAccount, submitCloseAccount } from './close-account.ts';
import { currentSession, endSession } from './browser-session.ts';
import { removeApp, renewRecoveryCodes, showSecurity, showSetUpApp, submitSetUpApp } from './change-second-factor.ts';
import { submitNewPasskey, submitRemovePasskey } from './change-passkeys.ts';
import { sendPage, type PageContext } from './page-context.ts';
import { signedOutPage } from './pages/plain-pages.ts';
import { showNewPassword, showPasswordReset, submitNewPassword, submitPasswordReset } from './reset-password.ts';
import { showSignIn, submitPasskey, submitSecondFactor, submitSignIn } from './sign-in.ts';
import { showConfirmSignUp, showSignUp, submitConfirmSignUp, submitSignUp } from './sign-up.ts';

/** Every page people see, and what its form does. */
export function pageRoutes(context: PageContext, pin: express.RequestHandler): express.Router {
  const form = express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 100 });
  return express
    .Router({ caseSensitive: true, strict: true })
    .get(['/sign-in/passkey', '/sign-in/second-factor'], pin, (_req, res) => res.redirect(303, '/sign-in'))
    .get(['/sign-in/:uid/passkey', '/sign-in/:uid/second-factor'], pin, ({ path }, res) =>
      res.redirect(303, path.slice(0, path.lastIndexOf('/'))),
    )
    .get(['/sign-in', '/sign-in/:uid'], pin, showSignIn(context))
    .post(['/sign-in/passkey', '/sign-in/:uid/passkey'], pin, form, submitPasskey(context))
    .post(['/sign-in/second-factor', '/sign-in/:uid/second-factor'], pin, form, submitSecondFactor(context))
    .post(['/sign-in', '/sign-in/:uid'], pin, form, submitSignIn(context))
    .get(['/sign-up', '/sign-in/:uid/sign-up'], pin, showSignUp(context))
    .post(['/sign-up', '/sign-in/:uid/sign-up'], pin, form, submitSignUp(context))
    .get(['/sign-up/confirm', '/sign-in/:uid/sign-up/confirm'], pin, showConfirmSignUp(context))
    .post(['/sign-up/confirm', '/sign-in/:uid/sign-up/confirm'], pin, form, submitConfirmSignUp(context))
    .get('/password-reset', pin, showPasswordReset(context))
    .post('/password-reset', pin, form, submitPasswordReset(context))
    .get('/password-reset/confirm', pin, showNewPassword(context))
    .post('/password-reset/confirm', pin, form, submitNewPassword(context))
    .get('/consent/:uid', pin, showConsent(context))
    .post('/consent/:uid', pin, form, submitConsent(context))
    .post('/sign-out', pin, form, signOut(context))
    .use(accountRoutes(context, pin, form));
}

function accountRoutes(context: PageContext, pin: express.RequestHandler, form: express.RequestHandler): express.Router {
  const { signedIn, lately } = withAccount(context);
  return express
    .Router({ caseSensitive: true, strict: true })
    .get('/account', pin, signedIn(showAccount))
    .get('/account/password', pin, lately(showChangePassword))
    .post('/account/password', pin, form, lately(submitChangePassword))
    .get('/account/email', pin, lately(showChangeEmail))
    .post('/account/email', pin, form, lately(submitChangeEmail))
    .get('/account/email/confirm', pin, showConfirmEmail(context))
    .post('/account/email/confirm', pin, form, submitConfirmEmail(context))
    .get('/account/sessions', pin, signedIn(showSessions))
    .post('/account/sessions', pin, form, signedIn(submitSessions))
    .get('/account/apps', pin, signedIn(showApps))
    .post('/account/apps', pin, form, signedIn(submitApps))
    .get('/account/security', pin, lately(showSecurity))
    .get('/account/authenticator-app', pin, lately(showSetUpApp))
    .post('/account/authenticator-app', pin, form, lately(submitSetUpApp))
    .post('/account/authenticator-app/remove', pin, form, lately(removeApp))
    .post('/account/recovery-codes', pin, form, lately(renewRecoveryCodes))
    .post('/account/passkeys', pin, form, lately(submitNewPasskey))
    .post('/account/passkeys/remove', pin, form, lately(submitRemovePasskey))
    .get('/account/close', pin, lately(showCloseAccount))
    .post('/account/close', pin, form, lately(submitCloseAccount));
}

const signOutForm = z.object({ csrf: z.string().catch('') });

const signOut =
  (context: PageContext): express.RequestHandler =>
  async (req, res) => {
    const { csrf } = signOutForm.parse(req.body ?? {});
    if (!context.forms.accepts(req, csrf)) return res.redirect(303, '/account');
    await context.em.transactional(async (em) => {
      const { accountId } = await currentSession(context.provider, req, res);
      await endSession(context.provider, req, res);
      if (accountId === undefined) return;
      const userId = Number(accountId);
      await recordAuditEvent(em, sourceOf(req), { action: 'session.ended', actorId: userId, userId }, new Date());
    });
    return sendPage(context, res, signedOutPage(context.setting));
  };
