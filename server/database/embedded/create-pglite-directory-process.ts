import { PGlite } from '@electric-sql/pglite';

// `createPgliteDirectoryIfNew` runs this script in a separate process, because the memory needed to create a database is released only when
// the process exits.
process.once('disconnect', () => process.exit(1)); // exits if the server was killed; the next start creates the directory again
const [, , directory] = process.argv;
if (directory === undefined) throw new Error('usage: create-pglite-directory-process.ts DIRECTORY');
const database = await PGlite.create(directory);
await database.close();
process.exit(0);
