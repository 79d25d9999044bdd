import type { UserUpdate } from '@mandate/contract';
import type { Em } from '../database/orm.ts';
import { recordEvent } from '../events/record-event.ts';
import { may } from '../http/authorize.ts';
import type { Principal } from '../http/principal.ts';
import { problem } from '../http/problem.ts';
import type { EndAccess } from '../http/resource.ts';
import { refuseTakenEmail } from './email-taken.ts';
import { userBody } from './user-body.ts';
import { keepAnAdministrator } from './last-administrator.ts';
import type { User } from './user.entity.ts';

/** A merge patch on a user that is locked: what is absent stays. */
export async function updateUser(em: Em, endAccess: EndAccess, principal: Principal, user: User, input: UserUpdate): Promise<void> {
  refuseWhatIsNotTheirs(principal, user, input);
  const { status = user.status, role = user.role, name = user.name, email = user.email } = input;
  if (role !== 'admin' || status !== 'active') await keepAnAdministrator(em, user);
  const edited = name !== user.name || email !== user.email || role !== user.role;
  const before = user.status;
  Object.assign(user, { name, email, role });
  if (status === 'suspended' && before !== 'suspended') user.suspend();
  if (status === 'active' && before !== 'active') user.reactivate();
  await em.flush().catch(refuseTakenEmail);
  if (user.status === 'suspended' && before !== 'suspended') await endAccess(em, user.id, 'for now');
  if (edited) await recordEvent(em, 'user.updated', userBody(user), user.id);
  if (user.status !== before)
    await recordEvent(em, user.status === 'active' ? 'user.reactivated' : 'user.suspended', userBody(user), user.id);
}

/**
 * Customers change their own name; staff also customers, their address and status; only administrators touch staff and roles.
 * One's own address changes on the account page alone, once it is proven: whoever has the address can set a new password.
 */
function refuseWhatIsNotTheirs(principal: Principal, user: User, { email, status, role }: UserUpdate): void {
  if (email !== undefined && email !== user.email && !may(principal, 'users.manage')) {
    throw problem('forbidden', { detail: 'Change your e-mail address on the account page.' });
  }
  if (
    (status !== undefined && status !== user.status && !may(principal, 'users.manage')) ||
    (role !== undefined && role !== user.role && !isAdministrator(principal))
  ) {
    throw problem('forbidden', { detail: 'The status is for members of staff, the role for administrators, to change.' });
  }
  if (principal.user?.id !== user.id && user.role !== 'customer' && !isAdministrator(principal)) {
    throw problem('forbidden', { detail: 'Members of staff are for administrators to change.' });
  }
}

/** Somebody who may change who may do what; an application that acts for itself is registered by one. */
export const isAdministrator = (principal: Principal): boolean => may(principal, 'users.manage') && principal.user?.role !== 'staff';
