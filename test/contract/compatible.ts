import { compareDocuments, assertComparisonWorks } from './compare-documents.ts';
import { readDocuments } from './documents.ts';

/** `npm run contract:compatible` checks that the current contract is compatible with every client of the last release. */
const { baseline, current } = await readDocuments();
await assertComparisonWorks(baseline);
const changes = await compareDocuments(baseline, current);
const breaking = changes.filter(({ impact }) => impact === 'major');
for (const { path, message } of breaking) process.stdout.write(`breaking: ${message}\n  ${path}\n`);
process.stdout.write(`${changes.length} changes since the last release, ${breaking.length} of them breaking\n`);
if (breaking.length > 0) {
  process.stdout.write('Breaking changes belong in the next version of the API; see docs/versioning.md.\n');
  process.exitCode = 1;
}
