import { z } from 'zod';
import { compareDocuments, assertComparisonWorks } from './compare-documents.ts';
import { updateBaseline, readDocuments } from './documents.ts';
import { nextVersion } from './next-version.ts';

/** `npm run contract:release` releases the current contract, so that later changes must be compatible with it. */
const versioned = z.object({ info: z.object({ version: z.string() }) });

const { baseline, current } = await readDocuments();
await assertComparisonWorks(baseline);
const changes = await compareDocuments(baseline, current);
const [before, now] = [baseline, current].map((document) => versioned.parse(document).info.version);
const expected = nextVersion(before ?? '', changes);
if (now === expected) {
  await updateBaseline();
  process.stdout.write(`contract/baseline/v1.json is now version ${now}, with ${changes.length} changes\n`);
} else {
  process.stdout.write(
    expected === undefined
      ? 'The contract has breaking changes. To list them: npm run contract:compatible\n'
      : `With these changes, version ${before} must be followed by ${expected}, but contract/openapi/openapi-document.ts declares ${now}\n`,
  );
  process.exitCode = 1;
}
