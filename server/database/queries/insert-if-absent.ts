import type { EntityName, RequiredEntityData } from '@mikro-orm/core';
import type { EntityManager } from '../entity-manager/entity-manager-type.ts';

/**
 * Inserts a row unless a row with the same key exists, and returns whether the row was inserted. If a concurrent transaction is inserting
 * the same key, this function waits for that transaction.
 */
export async function insertIfAbsent<Entity extends object>(
  em: Pick<EntityManager, 'createQueryBuilder'>,
  entity: EntityName<Entity>,
  data: RequiredEntityData<Entity>,
): Promise<boolean> {
  const { affectedRows } = await em.createQueryBuilder(entity).insert(data).onConflict().ignore().execute<{ affectedRows: number }>('run');
  return affectedRows > 0;
}
