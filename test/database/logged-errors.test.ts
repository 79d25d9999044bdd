import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { createLogger } from '../../server/logging/logger.ts';
import { User } from '../../server/users/user.entity.ts';
import { createMigratedDatabase } from '../support/services/database.ts';

let db: Database;
beforeAll(async () => {
  db = await createMigratedDatabase();
});
afterAll(() => db.close());

test.each([
  ['production', true],
  ['development', false],
])('the log in %s contains the constraint that a write violates, but not the row', async (_mode, production) => {
  const em = db.em.fork();
  const user = { name: 'Anna Example', email: 'anna@example.com', role: 'customer' } as const;
  await em.execute('alter table users add constraint planted check (false) not valid');
  const error: unknown = await em.insert(User, user).catch((thrown: unknown) => thrown);
  await em.execute('alter table users drop constraint planted');
  const lines: string[] = [];
  createLogger(production, { write: (line) => void lines.push(line) }).error(
    { err: new Error('the import failed', { cause: error }) },
    'request failed',
  );
  createLogger(production, { write: (line) => void lines.push(line) }).error({ err: error }, 'request failed');
  expect(lines.join('\n')).toContain('violates check constraint');
  expect(lines.join('\n')).not.toMatch(/anna@example\.com|Anna Example|Failing row/);
});
