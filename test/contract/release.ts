import { z } from 'zod';
import { compare, proveThatItCompares } from './compare.ts';
import { moveBaseline, readDocuments } from './documents.ts';
import { nextVersion } from './next-version.ts';

/** `npm run contract:release`: from here on the contract as it is now is what clients rely on. */
const versioned = z.object({ info: z.object({ version: z.string() }) });

const { baseline, current } = await readDocuments();
await proveThatItCompares(baseline);
const changes = await compare(baseline, current);
const [before, now] = [baseline, current].map((document) => versioned.parse(document).info.version);
const expected = nextVersion(before ?? '', changes);
if (now === expected) {
  await moveBaseline();
  process.stdout.write(`contract/baseline/v1.json is ${now} now, with ${changes.length} changes\n`);
} else {
  process.stdout.write(
    expected === undefined
      ? 'There are breaking changes: npm run contract:compatible\n'
      : `With these changes the version after ${before} is ${expected}, and contract/openapi/openapi-document.ts says ${now}\n`,
  );
  process.exitCode = 1;
}
