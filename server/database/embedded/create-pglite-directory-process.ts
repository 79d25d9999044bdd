import { PGlite } from '@electric-sql/pglite';

// A separate process, started by `createDataDirectory`: a process does not return the memory that creating a database takes.
process.once('disconnect', () => process.exit(1)); // the server was killed; the next one starts over
const [, , directory] = process.argv;
if (directory === undefined) throw new Error('usage: create-pglite-directory-process.ts DIRECTORY');
const database = await PGlite.create(directory);
await database.close();
process.exit(0);
