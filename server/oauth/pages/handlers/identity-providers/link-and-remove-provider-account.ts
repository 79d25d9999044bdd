import type { Request, Response } from 'express';
import { z } from 'zod';
import { getOauthRequestContext } from '../../../protocol/oauth-request-context.ts';
import { canRoleUseProvider } from '../../../identity-providers/provider-identity-and-access-rules.ts';
import {
  addLinkedAccount,
  hasOtherSignInMethod,
  deleteLinkedAccount,
} from '../../../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { storeProviderRefreshToken } from '../../../linked-accounts/linked-account-refresh-token.ts';
import { getBrowserSessionOfRequest } from '../../../sessions/load-start-and-end-browser-session.ts';
import { User } from '../../../../users/user.entity.ts';
import type { PageContext } from '../../routing/page-context.ts';
import { auditSecondFactorChangeAndEmailUser, showSecurityPage } from '../account/security-page-authenticator-and-recovery-codes.ts';
import { lockAccountAndRequireActiveSession, type AccountRequest } from '../account/signed-in-page-guards.ts';
import type { VerifiedProviderResponse } from './verified-provider-response-type.ts';
import { sendProviderMessagePage } from './provider-error-pages.ts';

/** Links the provider account to the signed-in user, who must be the user who started the process on the account page. */
export async function linkProviderAccountAndRedirect(
  context: PageContext,
  req: Request,
  res: Response,
  { provider, pending, identity }: VerifiedProviderResponse,
): Promise<void> {
  const account = getOauthRequestContext(req).signedInAccount;
  const { messages } = context.settings;
  const send = (text: string, status: number) =>
    sendProviderMessagePage(context, res, { name: provider.name, text, interactionUid: null, status });
  if (account === undefined || account.id !== pending.linkForUserId) return send(messages.providers.expired, 400);
  const now = new Date();
  const request: AccountRequest = { context, req, res, account, sessionUid: getBrowserSessionOfRequest(req).uid, now };
  const outcome = await context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    const { role } = await em.findOneOrFail(User, { id: account.id }, { disableIdentityMap: true });
    if (!canRoleUseProvider(provider, role)) return 'not allowed';
    const id = await addLinkedAccount(em, account.id, identity, now);
    if (id === undefined) return 'taken';
    const issued = { linkedAccountId: id, refreshToken: identity.refreshToken };
    await storeProviderRefreshToken(em, context.keys.identityProviders, provider, issued, now);
    await auditSecondFactorChangeAndEmailUser(em, request, 'linked_account.added', `linked_account:${id}`);
    return 'linked';
  });
  if (outcome === 'not allowed') return send(messages.providers.notAllowed({ provider: provider.name }), 403);
  if (outcome === 'taken') return send(messages.providers.taken({ provider: provider.name }), 409);
  return res.redirect(303, '/account/security');
}

const removeForm = z.object({
  id: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
});

/** Handles `POST /account/linked-accounts/remove`. The user's last sign-in method cannot be removed. */
export async function submitLinkedAccountRemoval(request: AccountRequest): Promise<void> {
  const { context, req, res, account } = request;
  const form = removeForm.safeParse(req.body ?? {});
  if (!form.success) return res.redirect(303, '/account/security');
  const { id } = form.data;
  const isKept = await context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    if (!(await hasOtherSignInMethod(em, account.id, { linkedAccountId: id }))) return true;
    if (await deleteLinkedAccount(em, account.id, id))
      await auditSecondFactorChangeAndEmailUser(em, request, 'linked_account.removed', `linked_account:${id}`);
    return false;
  });
  if (isKept) return showSecurityPage(request, [{ field: 'linked-accounts', text: context.settings.messages.providers.lastMethod }]);
  return res.redirect(303, '/account/security');
}
