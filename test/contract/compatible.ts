import { compare, proveThatItCompares } from './compare.ts';
import { readDocuments } from './documents.ts';

/** `npm run contract:compatible`: whether every client of the last release can go on with the contract as it is now. */
const { baseline, current } = await readDocuments();
await proveThatItCompares(baseline);
const changes = await compare(baseline, current);
const breaking = changes.filter(({ impact }) => impact === 'major');
for (const { path, message } of breaking) process.stdout.write(`breaking: ${message}\n  ${path}\n`);
process.stdout.write(`${changes.length} changes since the last release, ${breaking.length} of them breaking\n`);
if (breaking.length > 0) {
  process.stdout.write('What breaks clients goes into the next version of the API; docs/versioning.md says how.\n');
  process.exitCode = 1;
}
