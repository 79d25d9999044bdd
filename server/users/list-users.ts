import { raw } from '@mikro-orm/core';
import { maxCountedTotal } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { countEntitiesUpToMaxPlusOne } from '../database/queries/count-rows-up-to-limit.sql.ts';
import { createKeysetPageFilter } from '../http/response/keyset-page-filter.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import { User } from './user.entity.ts';

export type UserFilters = {
  readonly email?: string | undefined;
  readonly status?: readonly User['status'][] | undefined;
  readonly role?: readonly User['role'][] | undefined;
  readonly createdAtGte?: string | undefined;
  readonly createdAtLt?: string | undefined;
};

/** Returns the matching users; more than `limit` rows indicate a next page. */
export function listUsers(
  em: EntityManager,
  filters: UserFilters,
  descending: boolean,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<User[]> {
  const direction = descending ? 'desc' : 'asc';
  const where = { $and: [filterConditions(filters), createKeysetPageFilter('createdAt', position, direction)] };
  const options = { orderBy: { createdAt: direction, id: direction }, limit: limit + 1, disableIdentityMap: true } as const;
  return em.find(User, where, options);
}

/** Counts the matching users, up to `maxCountedTotal + 1`. */
export const countUsers = (em: EntityManager, filters: UserFilters): Promise<number> =>
  countEntitiesUpToMaxPlusOne(em, em.createQueryBuilder(User).select('id').where(filterConditions(filters)), maxCountedTotal);

function filterConditions({ email, status, role, createdAtGte, createdAtLt }: UserFilters) {
  return {
    $and: [
      // Closed accounts are excluded, which matches the partial unique index on the address.
      ...(email === undefined ? [] : [{ status: { $ne: 'closed' as const }, [raw('lower(email) = lower(?)', [email])]: [] }]),
      ...(status === undefined ? [] : [{ status: { $in: [...status] } }]),
      ...(role === undefined ? [] : [{ role: { $in: [...role] } }]),
      ...(createdAtGte === undefined ? [] : [{ createdAt: { $gte: new Date(createdAtGte) } }]),
      ...(createdAtLt === undefined ? [] : [{ createdAt: { $lt: new Date(createdAtLt) } }]),
    ],
  };
}
