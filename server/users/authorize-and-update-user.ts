import type { UserUpdate } from '@mandate/contract';
import type { RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import type { RevokeAccess, OnEmailAddressChange } from '../http/routing/handler-dependencies.ts';
import { assertUserChangeAuthorized, type ChangedUserProperty } from './authorize-user-change.ts';
import { changeEmailAddressNotifyAndAudit } from './change-email-address-or-mark-verified.ts';
import { userFromEntity } from './user-from-entity.ts';
import { assertOtherAdministratorRemains } from './assert-other-administrator-remains.ts';
import type { User } from './user.entity.ts';

type SideEffects = { readonly endAccess: RevokeAccess; readonly onEmailAddressChange: OnEmailAddressChange };
type Actor = { readonly principal: Principal; readonly source: RequestSource };

/** Applies a merge patch (RFC 7396) to a locked user. */
export async function authorizeAndUpdateUser(
  em: EntityManager,
  { endAccess, onEmailAddressChange }: SideEffects,
  { principal, source }: Actor,
  user: User,
  input: UserUpdate,
  now: Date,
): Promise<void> {
  assertUserChangeAuthorized(principal, user, changedProperties(user, input), now);
  const { status = user.status, role = user.role, name = user.name, email = user.email, locale = user.locale } = input;
  if (role !== 'admin' || status !== 'active') await assertOtherAdministratorRemains(em, user);
  const edited = name !== user.name || email !== user.email || role !== user.role || locale !== user.locale;
  const before = user.status;
  Object.assign(user, { name, role, locale });
  if (status === 'suspended' && before !== 'suspended') user.suspend();
  if (status === 'active' && before !== 'active') user.reactivate();
  await em.flush();
  if (email !== user.email) {
    // The owner has not yet followed a link sent to the new address, so the address is unverified.
    const change = { email, isVerified: false, actorId: principal.user?.id, clientId: principal.clientId, source };
    await changeEmailAddressNotifyAndAudit(em, onEmailAddressChange, user, change, now);
  }
  if (user.status === 'suspended' && before !== 'suspended') await endAccess(em, user.id, 'suspended');
  if (edited) await recordEvent(em, 'user.updated', userFromEntity(user), user.id);
  if (user.status !== before)
    await recordEvent(em, user.status === 'active' ? 'user.reactivated' : 'user.suspended', userFromEntity(user), user.id);
}

const changeable = ['name', 'email', 'status', 'role', 'locale'] as const;

const changedProperties = (user: User, input: UserUpdate): ChangedUserProperty[] =>
  changeable.filter((property) => input[property] !== undefined && input[property] !== user[property]);
