import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';

/** Returns the types of the subject's events, in order of occurrence. */
export async function readEventTypes(db: Database, subjectType: string, subjectId: number): Promise<string[]> {
  const rows = await db.em
    .fork()
    .execute<{ type: string }[]>('select type from events where subject_type = ? and subject_id = ? order by id', [subjectType, subjectId]);
  return rows.map(({ type }) => type);
}
