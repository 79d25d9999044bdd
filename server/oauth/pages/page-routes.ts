import type { RequestHandler } from 'express';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../audit/record-audit-event.ts';
import { requireRecentSignInBefore, requireSignInBefore } from './handlers/account/signed-in-page-guards.ts';
import {
  brandingPagePath,
  maxLogoFormBytes,
  showBranding,
  submitBranding,
  submitLogo,
  submitLogoRemoval,
} from './handlers/account/edit-branding.ts';
import { showAccountHome } from './handlers/account/account-home.ts';
import { showProfileOnCsrfError, showProfile, submitProfile } from './handlers/account/change-profile.ts';
import { showOrder, showOrders } from './handlers/account/show-orders.ts';
import {
  showApproval,
  showApprovals,
  submitApprovalDecision,
  submitAmountRequiringSecondFactor,
} from './handlers/account/show-and-decide-approvals.ts';
import { showConsent, submitConsent } from './handlers/show-and-submit-consent.ts';
import { showConnectedAppLimitsForm, submitConnectedAppLimits } from './handlers/account/show-and-change-connected-app-limits.ts';
import { showApiKeys, submitApiKeyRevocation } from './handlers/account/show-and-revoke-api-keys.ts';
import {
  showConnectedApps,
  showSessions,
  submitConnectedAppRemoval,
  submitSessionOrGlobalSignOut,
} from './handlers/account/show-and-revoke-sessions-and-apps.ts';
import {
  showEmailChangeForm,
  showEmailConfirmationForm,
  showEmailChangeOnCsrfError,
  submitEmailChangeRequest,
  submitEmailConfirmation,
} from './handlers/account/change-email.ts';
import { showChangePassword, showChangePasswordOnCsrfError, submitChangePassword } from './handlers/account/change-password.ts';
import { showLanguageSettingOnCsrfError, showLanguageSetting, submitLanguageSetting } from './handlers/account/language-setting.ts';
import { showCloseAccount, submitCloseAccount } from './handlers/account/close-account.ts';
import { loadOrCreateBrowserSession, endBrowserSessionAndNotifyApplications } from '../sessions/load-start-and-end-browser-session.ts';
import {
  submitAuthenticatorAppRemoval,
  submitRecoveryCodeRenewal,
  downloadRecoveryCodes,
  showRecoveryCodesInChosenLanguage,
  showSecurityPage,
  showAuthenticatorSetup,
  restartAuthenticatorSetup,
  submitAuthenticatorSetup,
} from './handlers/account/security-page-authenticator-and-recovery-codes.ts';
import { showPasskeyFormOnCsrfError, submitNewPasskey, submitPasskeyRemoval } from './handlers/account/add-and-remove-passkeys.ts';
import {
  verifyProviderResponseAndSignInOrLink,
  redirectProviderResponseToInteraction,
} from './handlers/identity-providers/complete-provider-sign-in.ts';
import { submitLinkedAccountRemoval } from './handlers/identity-providers/link-and-remove-provider-account.ts';
import {
  showLinkExpiredOnCsrfError,
  showAccountLinkConfirmationForm,
  submitAccountLinkConfirmation,
  submitAccountLinkEmailRequest,
} from './handlers/identity-providers/link-account-by-email.ts';
import {
  showProviderErrorOnCsrfError,
  submitAccountLinkStart,
  submitProviderSignInStart,
} from './handlers/identity-providers/start-provider-sign-in.ts';
import { sendPage, type PageContext } from './routing/page-context.ts';
import { PageRouter, type PageHandler } from './routing/page-router.ts';
import { formExpiredPage, signedOutPage } from './views/message-pages.ts';
import {
  showNewPasswordForm,
  showPasswordResetRequestForm,
  showNewPasswordFormOnCsrfError,
  showPasswordResetRequestFormOnCsrfError,
  submitNewPassword,
  submitPasswordResetRequest,
} from './handlers/sign-in/reset-password.ts';
import {
  showSignIn,
  showSignInAfterSignInStepExpired,
  showSignInOnCsrfError,
  submitEmailCode,
  submitPasskeySignIn,
  submitSecondFactor,
  submitSignIn,
} from './handlers/sign-in/show-and-submit-sign-in-steps.ts';
import {
  showSignUpNameAndPasswordForm,
  showSignUpForm,
  showSignUpNameAndPasswordFormOnCsrfError,
  showSignUpFormOnCsrfError,
  submitSignUpNameAndPassword,
  submitSignUpForm,
} from './handlers/sign-in/sign-up.ts';

/** Registers all pages and forms. The second handler of each form handles submissions without a valid CSRF token. */
export function createPageRouter(context: PageContext, requireHost: RequestHandler): PageRouter {
  const pages = new PageRouter(context, requireHost);
  addSignInPages(pages);
  addAccountPages(pages);
  return pages;
}

function addSignInPages(pages: PageRouter): void {
  pages
    .addPage(['/sign-in/passkey', '/sign-in/second-factor', '/sign-in/e-mail-code'], redirectTo('/sign-in'))
    .addPage(
      ['/sign-in/:uid/passkey', '/sign-in/:uid/second-factor', '/sign-in/:uid/e-mail-code'],
      () =>
        ({ path }, res) =>
          res.redirect(303, path.slice(0, path.lastIndexOf('/'))),
    )
    .addPage(['/sign-in', '/sign-in/:uid'], showSignIn)
    .addForm(['/sign-in/passkey', '/sign-in/:uid/passkey'], submitPasskeySignIn, showSignInOnCsrfError)
    .addForm(['/sign-in/second-factor', '/sign-in/:uid/second-factor'], submitSecondFactor, showSignInAfterSignInStepExpired)
    .addForm(['/sign-in/e-mail-code', '/sign-in/:uid/e-mail-code'], submitEmailCode, showSignInAfterSignInStepExpired)
    .addForm(['/sign-in', '/sign-in/:uid'], submitSignIn, showSignInOnCsrfError)
    .addPage(['/sign-up', '/sign-in/:uid/sign-up'], showSignUpForm)
    .addForm(['/sign-up', '/sign-in/:uid/sign-up'], submitSignUpForm, showSignUpFormOnCsrfError)
    .addPage(['/sign-up/confirm', '/sign-in/:uid/sign-up/confirm'], showSignUpNameAndPasswordForm)
    .addForm(['/sign-up/confirm', '/sign-in/:uid/sign-up/confirm'], submitSignUpNameAndPassword, showSignUpNameAndPasswordFormOnCsrfError)
    .addPage(providerPaths('start'), redirectTo('/sign-in'))
    .addForm(providerPaths('start'), submitProviderSignInStart, showProviderErrorOnCsrfError)
    .addCallback('/sign-in/providers/:slug/callback', redirectProviderResponseToInteraction)
    .addCallback(providerPaths('complete'), verifyProviderResponseAndSignInOrLink)
    .addPage('/sign-in/providers/:slug/link', redirectTo('/sign-in'))
    .addForm('/sign-in/providers/:slug/link', submitAccountLinkEmailRequest, showLinkExpiredOnCsrfError)
    .addPage('/sign-in/providers/:slug/link-confirmation', showAccountLinkConfirmationForm)
    .addForm('/sign-in/providers/:slug/link-confirmation', submitAccountLinkConfirmation, showFormExpired())
    .addPage('/password-reset', showPasswordResetRequestForm)
    .addForm('/password-reset', submitPasswordResetRequest, showPasswordResetRequestFormOnCsrfError)
    .addPage('/password-reset/confirm', showNewPasswordForm)
    .addForm('/password-reset/confirm', submitNewPassword, showNewPasswordFormOnCsrfError)
    .addPage('/consent/:uid', showConsent)
    .addForm('/consent/:uid', submitConsent, showFormExpired())
    .addPage('/sign-out', redirectTo('/sign-in'))
    .addForm('/sign-out', signOut, redirectTo('/account'));
}

function addAccountPages(pages: PageRouter): void {
  pages
    .addPage('/account', requireSignInBefore(showAccountHome))
    .addPage('/account/orders', requireSignInBefore(showOrders))
    .addPage('/account/orders/:order', requireSignInBefore(showOrder))
    .addPage('/account/profile', requireSignInBefore(showProfile))
    .addForm('/account/profile', requireSignInBefore(submitProfile), requireSignInBefore(showProfileOnCsrfError))
    .addPage('/account/password', requireRecentSignInBefore(showChangePassword))
    .addForm('/account/password', requireRecentSignInBefore(submitChangePassword), requireRecentSignInBefore(showChangePasswordOnCsrfError))
    .addPage('/account/email', requireRecentSignInBefore(showEmailChangeForm))
    .addForm('/account/email', requireRecentSignInBefore(submitEmailChangeRequest), requireRecentSignInBefore(showEmailChangeOnCsrfError))
    .addPage('/account/email/confirm', showEmailConfirmationForm)
    .addForm('/account/email/confirm', submitEmailConfirmation, showFormExpired())
    .addPage('/account/sessions', requireSignInBefore(showSessions))
    .addForm('/account/sessions', requireSignInBefore(submitSessionOrGlobalSignOut), showFormExpired())
    .addPage('/account/apps', requireSignInBefore(showConnectedApps))
    .addForm('/account/apps', requireSignInBefore(submitConnectedAppRemoval), showFormExpired())
    .addPage('/account/apps/:app/limits', requireRecentSignInBefore(showConnectedAppLimitsForm))
    .addForm('/account/apps/:app/limits', requireRecentSignInBefore(submitConnectedAppLimits), showFormExpired())
    .addPage('/account/approvals', requireSignInBefore(showApprovals))
    .addForm('/account/approvals', requireRecentSignInBefore(submitAmountRequiringSecondFactor), showFormExpired())
    .addPage('/account/approvals/:approval', requireSignInBefore(showApproval))
    .addForm('/account/approvals/:approval', requireSignInBefore(submitApprovalDecision), showFormExpired())
    .addPage('/account/api-keys', requireSignInBefore(showApiKeys))
    .addForm('/account/api-keys', requireSignInBefore(submitApiKeyRevocation), showFormExpired())
    .addPage('/account/security', requireRecentSignInBefore(showSecurityPage))
    .addPage('/account/authenticator-app', requireRecentSignInBefore(showAuthenticatorSetup))
    .addForm(
      '/account/authenticator-app',
      requireRecentSignInBefore(submitAuthenticatorSetup),
      requireRecentSignInBefore(restartAuthenticatorSetup),
    )
    .addForm(
      '/account/authenticator-app/remove',
      requireRecentSignInBefore(submitAuthenticatorAppRemoval),
      showFormExpired('/account/security'),
    )
    .addForm('/account/recovery-codes', requireRecentSignInBefore(submitRecoveryCodeRenewal), showFormExpired('/account/security'))
    .addForm('/account/recovery-codes/shown', requireSignInBefore(showRecoveryCodesInChosenLanguage), showFormExpired('/account/security'))
    .addForm('/account/recovery-codes/file', requireSignInBefore(downloadRecoveryCodes), showFormExpired('/account/security'))
    .addPage(
      ['/account/passkeys', ...['', '/shown', '/file'].map((name) => `/account/recovery-codes${name}`)],
      redirectTo('/account/security'),
    )
    .addPage('/account/language', requireSignInBefore(showLanguageSetting))
    .addForm('/account/language', requireSignInBefore(submitLanguageSetting), requireSignInBefore(showLanguageSettingOnCsrfError))
    .addForm('/account/passkeys', requireRecentSignInBefore(submitNewPasskey), requireRecentSignInBefore(showPasskeyFormOnCsrfError))
    .addForm('/account/passkeys/remove', requireRecentSignInBefore(submitPasskeyRemoval), showFormExpired('/account/security'))
    .addPage(['/account/linked-accounts', '/account/linked-accounts/remove'], redirectTo('/account/security'))
    .addForm('/account/linked-accounts', requireRecentSignInBefore(submitAccountLinkStart), showFormExpired('/account/security'))
    .addForm('/account/linked-accounts/remove', requireRecentSignInBefore(submitLinkedAccountRemoval), showFormExpired('/account/security'))
    .addPage(brandingPagePath, requireRecentSignInBefore(showBranding))
    .addPage([`${brandingPagePath}/logo`, `${brandingPagePath}/logo/remove`], redirectTo(brandingPagePath))
    .addForm(brandingPagePath, requireRecentSignInBefore(submitBranding), showFormExpired())
    .addForm(`${brandingPagePath}/logo`, requireRecentSignInBefore(submitLogo), showFormExpired(brandingPagePath), maxLogoFormBytes)
    .addForm(`${brandingPagePath}/logo/remove`, requireRecentSignInBefore(submitLogoRemoval), showFormExpired(brandingPagePath))
    .addPage('/account/close', requireRecentSignInBefore(showCloseAccount))
    .addForm('/account/close', requireRecentSignInBefore(submitCloseAccount), showFormExpired());
}

/** Returns both paths of a provider's page: one without an interaction ID, and one with the ID of an interaction. */
const providerPaths = (page: string): string[] => [`/sign-in/providers/:slug/${page}`, `/sign-in/:uid/providers/:slug/${page}`];

const redirectTo =
  (path: string): PageHandler =>
  () =>
  (_req, res) =>
    res.redirect(303, path);

/**
 * Tells the user that a form without a valid CSRF token changed nothing, and links to the page that contains the form.
 * @param path page that contains the form (default: the form's own URL)
 */
const showFormExpired =
  (path?: string): PageHandler =>
  (context) =>
  (req, res) =>
    sendPage(context, res, formExpiredPage(context.settings, path ?? req.originalUrl), { status: 400 });

const signOut: PageHandler = (context) => async (req, res) => {
  await context.em.transactional(async (em) => {
    const { accountId } = await loadOrCreateBrowserSession(context.provider, req, res);
    await endBrowserSessionAndNotifyApplications(context, req, res);
    if (accountId === undefined) return;
    const userId = Number(accountId);
    await recordAuditEvent(em, getClientAddressAndUserAgent(req), { action: 'session.ended', actorId: userId, userId }, new Date());
  });
  return sendPage(context, res, signedOutPage(context.settings));
};
