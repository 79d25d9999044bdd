import { PGlite } from '@electric-sql/pglite';

// `createPgliteDirectoryIfNew` runs this script in a separate process, because a process never releases the memory that creating a database
// needs.
process.once('disconnect', () => process.exit(1)); // runs if the server was killed; the next start creates the directory again
const [, , directory] = process.argv;
if (directory === undefined) throw new Error('usage: create-pglite-directory-process.ts DIRECTORY');
const database = await PGlite.create(directory);
await database.close();
process.exit(0);
