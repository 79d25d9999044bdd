import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as sdk from '@mandate/client-sdk';
import { errorClassNameSymbol } from '../../../client-sdk/core/errors.ts';

const readme = await readFile(join(import.meta.dirname, '../../../client-sdk/README.md'), 'utf8');

test('the README lists every error class of the client', () => {
  const classes = Object.entries(sdk).filter(([, value]) => typeof value === 'function' && errorClassNameSymbol in value);
  const documented = [...readme.matchAll(/^\| `(\w+Error)` \|/gm)].map(([, name = '']) => name);
  expect(documented.toSorted()).toEqual(
    classes
      .map(([name]) => name)
      .filter((name) => name !== 'MandateError')
      .toSorted(),
  );
});

test.each([
  [new sdk.ConnectionError('refused'), 'connection_failed'],
  [new sdk.TimeoutError('late'), 'timeout'],
  [new sdk.AbortError('aborted'), 'aborted'],
  [new sdk.DecodeError(new Response(null, { status: 302 }), ''), 'invalid_response'],
  [new sdk.WaitTimeoutError('late', undefined), 'wait_timeout'],
])('%s has the documented code %s', (error, code) => {
  expect(error.code).toBe(code);
  expect(readme).toContain(`| \`${error.name}\` | \`${code}\` |`);
});
