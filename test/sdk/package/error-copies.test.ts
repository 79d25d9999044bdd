import { expect, test } from 'vitest';
import * as sdk from '@mandate/client-sdk';
import { WebhookVerificationError } from '@mandate/client-sdk/webhooks';

/** Loads a second copy of a module, as in a program that loads both the ESM and the CommonJS package. */
const loadCopy = async (path: string) => import(/* @vite-ignore */ `../../../client-sdk/${path}?copy`);

test('instanceof recognizes errors from another copy of the package', async () => {
  const copy = await loadCopy('core/errors.ts');
  expect(copy.MandateError).not.toBe(sdk.MandateError);
  const error = new copy.TimeoutError('late');
  expect(error).toMatchObject({ name: 'TimeoutError', code: 'timeout', message: 'late' });
  expect(error instanceof sdk.TimeoutError && error instanceof sdk.MandateError && error instanceof Error).toBe(true);
  expect(error instanceof sdk.ConnectionError || error instanceof sdk.ApiError).toBe(false);
  expect(new copy.ApiError(404, { code: 'not_found' }, new Headers()) instanceof sdk.ApiError).toBe(true);
  expect(new sdk.TimeoutError('late') instanceof copy.MandateError).toBe(true);
});

test('instanceof rejects other errors and values', () => {
  const domException = new DOMException('late', 'TimeoutError');
  for (const value of [domException, new Error('TimeoutError'), { name: 'TimeoutError' }, 'TimeoutError', null, undefined, 0]) {
    expect(value instanceof sdk.TimeoutError || value instanceof sdk.MandateError).toBe(false);
  }
});

test('a subclass in a program recognizes only its own errors', () => {
  class OutOfStockError extends sdk.ApiError {}
  const problem = { code: 'out_of_stock' };
  const error = new OutOfStockError(409, problem, new Headers());
  expect(error instanceof OutOfStockError && error instanceof sdk.ApiError).toBe(true);
  expect(new sdk.ApiError(409, problem, new Headers()) instanceof OutOfStockError).toBe(false);
});

test('a webhook error from another copy is recognized', async () => {
  const copy = await loadCopy('webhooks.ts');
  expect(copy.WebhookVerificationError).not.toBe(WebhookVerificationError);
  expect(new copy.WebhookVerificationError('no signature') instanceof WebhookVerificationError).toBe(true);
  expect(new Error('no signature') instanceof WebhookVerificationError).toBe(false);
});
