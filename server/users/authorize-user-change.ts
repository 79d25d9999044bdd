import { canUseScope, requireAnyScope } from '../http/middleware/authorize-by-scope.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { requireRecentSignIn } from '../http/request/recent-sign-in-and-second-factor-checks.ts';
import type { User } from './user.entity.ts';

/** A user property to change, or `closure` to close the account. */
export type ChangedUserProperty = 'name' | 'email' | 'status' | 'role' | 'locale' | 'closure';

/** Changes that users can make to their own account with `users.write`. */
const ownChanges: ReadonlySet<ChangedUserProperty> = new Set<ChangedUserProperty>(['name', 'locale', 'closure']);

/**
 * Verifies that the principal may make these changes. With `users.write`, users can change their own name and locale, and close their own
 * account. `users.manage` permits changes to customer accounts, except to their roles. Changes to roles, and to the accounts of staff and
 * administrators, require an administrator with `users.administer` and a recent sign-in. Users can change their own e-mail address only on
 * the account page, which verifies the address.
 * @throws Problem `forbidden`, `insufficient_scope` or `insufficient_user_authentication`
 */
export function assertUserChangeAuthorized(principal: Principal, user: User, changes: readonly ChangedUserProperty[], now: Date): void {
  const isOwner = principal.user?.id === user.id;
  if (isOwner && canUseScope(principal, 'users.write') && changes.every((change) => ownChanges.has(change))) return;
  if (changes.includes('role') || user.role !== 'customer') return requireAdministrator(principal, now);
  if (isOwner && changes.includes('email')) throw createProblem('forbidden', { detail: 'Change your e-mail address on the account page.' });
  if (isOwner) throw createProblem('forbidden', { detail: 'Only staff can change the status of a customer.' });
  requireAnyScope(principal, 'users.manage');
  if (changes.includes('closure') && principal.user?.role === 'staff') {
    throw createProblem('forbidden', { detail: 'Only administrators can close the account of another user.' });
  }
}

function requireAdministrator(principal: Principal, now: Date): void {
  if (principal.user?.role !== 'admin') {
    throw createProblem('forbidden', {
      detail:
        'Only a signed-in administrator can change roles, staff accounts and administrator accounts. Applications that act on their own behalf cannot.',
    });
  }
  requireAnyScope(principal, 'users.administer');
  requireRecentSignIn(principal, now);
}
