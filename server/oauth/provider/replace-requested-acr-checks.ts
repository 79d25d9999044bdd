import { errors, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { oneFactorAcrValue, twoFactorAcrValue } from '../protocol/acr-and-amr.ts';
import { parseRequestedAcr } from '../protocol/claims-parameter.ts';
import { findWhenAuthenticatorAppWasAdded } from '../second-factors/authenticator-app-and-recovery-codes.ts';

/**
 * Replaces oidc-provider's checks of a requested `acr` (OpenID Connect Core section 5.5.1.1, RFC 9470 section 4). These checks would keep
 * showing the sign-in page to a user who cannot satisfy the requested value.
 */
export function replaceRequestedAcrChecks(prompts: interactionPolicy.DefaultPolicy, em: EntityManager): void {
  const { Check } = interactionPolicy;
  const checks = prompts.get('login')?.checks;
  checks?.remove('essential_acrs');
  checks?.remove('essential_acr');
  checks?.add(
    new Check('requested_acr', 'the requested acr requires another sign-in', 'login_required', async ({ oidc }) =>
      (await requiresSignInForAcr(em, oidc)) ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
    ),
  );
}

/**
 * Returns whether the user must sign in again to satisfy a requested `acr`. If the `acr` value for two factors is requested as a voluntary
 * claim, only users with an authenticator app must sign in again. If the `acr` claim is essential, every user must sign in again one time.
 * @throws errors.UnmetAuthenticationRequirements if an essential value cannot be satisfied
 */
async function requiresSignInForAcr(em: EntityManager, oidc: KoaContextWithOIDC['oidc']): Promise<boolean> {
  const { claims, session, account, result } = oidc;
  const { values, isEssential } = parseRequestedAcr(claims.id_token?.['acr']);
  const acr = session?.acr;
  if (!isEssential) {
    if (!values.includes(twoFactorAcrValue) || !account || acr === twoFactorAcrValue) return false;
    return (await findWhenAuthenticatorAppWasAdded(em, Number(account.accountId))) !== undefined;
  }
  if (values.length === 0) return false;
  if (!values.some(isSupportedAcr)) throw unmetRequirements();
  if (!account || (acr !== undefined && values.includes(acr))) return false;
  if (result?.login) throw unmetRequirements();
  return true;
}

const isSupportedAcr = (value: string): boolean => value === oneFactorAcrValue || value === twoFactorAcrValue;

const unmetRequirements = (): Error =>
  new errors.UnmetAuthenticationRequirements('the user could not be authenticated with a requested acr value');
