import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';

/** Moves the sign-in times of a user's browser sessions back by the given number of minutes. */
export async function backdateSessions(db: Database, userId: number, minutes: number): Promise<void> {
  const em = db.em.fork();
  const rows = await em.execute<{ id: string; payload: string }[]>(
    `select id, payload from oauth_records where model = 'Session' and account_id = ?`,
    [String(userId)],
  );
  for (const { id, payload } of rows) {
    const session = JSON.parse(payload);
    const aged = JSON.stringify({ ...session, loginTs: session.loginTs - minutes * 60 });
    await em.execute(`update oauth_records set payload = ? where model = 'Session' and id = ?`, [aged, id]);
  }
}
