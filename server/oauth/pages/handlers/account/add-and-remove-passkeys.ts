import { findHiddenCharacterCodePoint, singleLineInputSchema } from '@mandate/contract';
import { z } from 'zod';
import { lockAccountAndRequireActiveSession, type AccountRequest } from './signed-in-page-guards.ts';
import { showSecurityPage, auditSecondFactorChangeAndEmailUser } from './security-page-authenticator-and-recovery-codes.ts';
import { hasOtherSignInMethod } from '../../../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { verifyAndAddPasskey, deletePasskey } from '../../../second-factors/passkeys.ts';

const newPasskeyForm = z.object({
  passkey: z.string().catch(''),
  name: z
    .string()
    .transform((name) => name.trim().slice(0, 100))
    .catch(''),
});

/** Handles `POST /account/passkeys`: adds a passkey. */
export async function submitNewPasskey(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const { messages } = context.settings;
  const { passkey, name } = newPasskeyForm.parse(req.body ?? {});
  const validName = singleLineInputSchema(100, 0).safeParse(name);
  if (!validName.success) {
    return showSecurityPage(request, [
      { field: 'name', text: messages.signUp.nameRejected({ character: findHiddenCharacterCodePoint(name) ?? '' }) },
    ]);
  }
  const added = await context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    const newPasskey = { userId: account.id, name: name === '' ? messages.security.passkeyDefault : name, answer: passkey };
    const id = await verifyAndAddPasskey(em, context.challenges, context.provider.issuer, newPasskey, now);
    if (id !== undefined) await auditSecondFactorChangeAndEmailUser(em, request, 'passkey.added', `passkey:${id}`);
    return id !== undefined;
  });
  if (!added) return showSecurityPage(request, [{ field: 'name', text: messages.security.passkeyRefused }]);
  return res.redirect(303, '/account/security');
}

/** Shows the form again after a submission without a valid CSRF token. */
export const showPasskeyFormOnCsrfError = (request: AccountRequest): Promise<void> =>
  showSecurityPage(request, [{ field: 'name', text: request.context.settings.messages.stale }]);

const removeForm = z.object({
  id: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
});

/** Handles `POST /account/passkeys/remove`. The user's last sign-in method cannot be removed. */
export async function submitPasskeyRemoval(request: AccountRequest): Promise<void> {
  const { context, req, res, account } = request;
  const form = removeForm.safeParse(req.body ?? {});
  if (form.success) {
    const isKept = await context.em.transactional(async (em) => {
      await lockAccountAndRequireActiveSession(em, request);
      if (!(await hasOtherSignInMethod(em, account.id, { passkeyId: form.data.id }))) return true;
      if (await deletePasskey(em, account.id, form.data.id))
        await auditSecondFactorChangeAndEmailUser(em, request, 'passkey.removed', `passkey:${form.data.id}`);
      return false;
    });
    if (isKept) return showSecurityPage(request, [{ field: 'passkeys', text: context.settings.messages.providers.lastMethod }]);
  }
  return res.redirect(303, '/account/security');
}
