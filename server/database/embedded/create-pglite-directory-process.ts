import { PGlite } from '@electric-sql/pglite';

// A process of its own, started by `makeDataDirectory`: memory that creating a database needs is not returned by the process that does it.
process.once('disconnect', () => process.exit(1)); // the server was killed, and its successor starts anew
const [, , directory] = process.argv;
if (directory === undefined) throw new Error('usage: create-pglite-directory-process.ts DIRECTORY');
const database = await PGlite.create(directory);
await database.close();
process.exit(0);
