import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { hostileInputs } from '../support/network/hostile-inputs.ts';

/** Typical attack strings, as found in public lists. */
export const attacks = [
  // SQL
  "'; drop table users; --",
  '1 or 1=1',
  "\\'; select pg_sleep(5); --",
  '1); delete from orders; --',
  '$1',
  '?',
  '$$x$$',
  // shells, templates, formulas
  '$(touch /tmp/x)',
  '`id`',
  '; cat /etc/passwd',
  '{{7*7}}',
  '#{7*7}',
  '<%= 7*7 %>',
  '=cmd|" /C calc"!A0',
  '${jndi:ldap://127.0.0.1/x}',
  // paths
  '../../../../etc/passwd',
  '..%2f..%2f',
  '%2e%2e/',
  'file:///etc/passwd',
  'C:\\windows\\win.ini',
  // pages
  '"><script>alert(1)</script>',
  'javascript:alert(1)',
  '</title><svg/onload=alert(1)>',
  // headers
  '%0d%0aSet-Cookie:%20x=1',
  '\u2028\u2029\u0085',
  // long text, combining characters, invalid text
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  '\ufffe\uffff',
  'e\u0301'.repeat(500),
  '﷽'.repeat(100),
  '👩‍👩‍👧‍👦'.repeat(50),
  'İıſK',
  '٠١٢٣',
  '１２３',
  'x'.repeat(70_000),
  // names with a special meaning in JavaScript
  '__proto__',
  'constructor',
  'toString',
  'undefined',
  'null',
  'NaN',
  '[object Object]',
  // invalid and borderline numbers and dates
  '-1',
  '0',
  '-0',
  '1e1000',
  '0x10',
  '1_000',
  '9007199254740993',
  '9223372036854775808',
  '99999999999999999999999999',
  '1.0000000000000001',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:60Z',
  '-271821-04-20T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '2026-02-30T00:00:00Z',
  '294277-01-01T00:00:00Z',
  'infinity',
  'epoch',
];

/** Text that a valid client would not send. */
export const hostileText: Arbitrary<string> = fc.oneof(
  fc.constantFrom(...hostileInputs, ...attacks),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

const numbers = [-1, 0, -0, 0.5, 1e-300, 1e21, 1e300, 2 ** 31, 2 ** 31 - 1, 2 ** 53, 2 ** 63, -(2 ** 63), Number.MAX_SAFE_INTEGER];

/** JSON values that a valid client would not send. */
export const hostileJson: Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], ...numbers) },
  { weight: 1, arbitrary: fc.constant({ ['__proto__']: { admin: true }, constructor: { prototype: { admin: true } } }) },
  { weight: 1, arbitrary: fc.array(hostileText, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.nat({ max: 3_000 }).map((length) => Array.from({ length }, () => 1)) },
  { weight: 1, arbitrary: fc.nat({ max: 200 }).map((depth) => nested(depth)) },
  { weight: 1, arbitrary: fc.dictionary(hostileText, fc.constantFrom<unknown>(1, 'x', null), { maxKeys: 4 }) },
);

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Names of undeclared properties and parameters. */
export const hostileName: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'unknown',
    'id',
    'role',
    'user_id',
    'is_admin',
    '',
  ),
  hostileText,
);
