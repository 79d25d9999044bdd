import { migrate } from '../database/migrate/run-migrations.ts';
import { openDatabaseWithoutMigrating } from './open-database-without-migrating.ts';

/**
 * `npm run migration -- add_nickname` creates a migration from the difference between the entities and the existing migrations. Review the
 * created migration.
 */
const name = process.argv[2];
if (name === undefined || !/^[a-z][a-z0-9_]*$/.test(name)) throw new Error('usage: npm run migration -- name_in_snake_case');

const db = await openDatabaseWithoutMigrating('memory://');
await migrate(db);
const { fileName, diff } = await db.migrator.create(undefined, false, false, name);
process.stdout.write(fileName ? `${fileName}\n${diff.up.join('\n')}\n` : 'nothing to do\n');
await db.close();
