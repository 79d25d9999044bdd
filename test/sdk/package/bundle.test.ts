import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

/** Bundles `source` for the browser, as a front-end build does. */
async function bundled(source: string): Promise<{ code: string; inputs: string[]; gzipped: number }> {
  const result = await build({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  });
  const code = result.outputFiles[0]?.text ?? '';
  return { code, inputs: Object.keys(result.metafile.inputs), gzipped: gzipSync(code).length };
}

test.each([
  ['the client alone', `import { createClient } from '@mandate/client-sdk'; console.log(createClient)`, 6_150],
  ['the client of version 2', `import { createClient } from '@mandate/client-sdk/v2'; console.log(createClient)`, 6_200],
  ['everything of the client', `import * as sdk from '@mandate/client-sdk'; console.log(sdk)`, 8_700],
  ['everything for webhooks', `import * as sdk from '@mandate/client-sdk/webhooks'; console.log(sdk)`, 1_500],
  [
    'the client with sign-in in a browser',
    `import { createClient } from '@mandate/client-sdk'; import { browserSignIn } from '@mandate/client-sdk/authorization/browser'; console.log(createClient, browserSignIn)`,
    12_400,
  ],
  ['options for TanStack Query', `import { queryOptions } from '@mandate/client-sdk/query'; console.log(queryOptions)`, 2_500],
  ['sign-in on a server', `import { createServerSignIn } from '@mandate/client-sdk/server'; console.log(createServerSignIn)`, 9_000],
  ['everything to sign in with', `import * as sdk from '@mandate/client-sdk/authorization'; console.log(sdk)`, 12_300],
])('%s runs in a browser, without zod, ts-rest and Node, and is small', async (name, source, bytesMax) => {
  const { code, inputs, gzipped } = await bundled(source);
  process.stdout.write(`${name}: ${code.length} bytes, ${gzipped} gzipped\n`);
  expect(inputs.filter((input) => /node_modules\/(?!oauth4webapi\/)/.test(input))).toEqual([]);
  expect(code).not.toMatch(/["']node:/);
  expect(gzipped).toBeLessThanOrEqual(bytesMax);
});
