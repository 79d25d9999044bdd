import { expect, test } from 'vitest';
import { CleanupStack } from '../../../server/process/cleanup-stack.ts';

test('closes resources once, in the reverse order in which they were opened', async () => {
  const closed: string[] = [];
  const opened = new CleanupStack();
  opened.defer(() => closed.push('database'));
  opened.use({ [Symbol.dispose]: () => void closed.push('listener') });
  opened.use({ [Symbol.asyncDispose]: async () => void closed.push('connection') });
  await opened.disposeAsync();
  await opened.disposeAsync();
  expect(closed).toEqual(['connection', 'listener', 'database']);
});

test('closes the other resources if one fails, and reports every error', async () => {
  const closed: string[] = [];
  const opened = new CleanupStack();
  const fail = (message: string) => async () => {
    throw new Error(message);
  };
  opened.defer(() => closed.push('database'));
  opened.defer(fail('first'));
  await expect(opened.disposeAsync()).rejects.toThrow('first');
  expect(closed).toEqual(['database']);
  opened.defer(fail('first'));
  opened.defer(fail('second'));
  await expect(opened.disposeAsync()).rejects.toMatchObject({ errors: [{ message: 'second' }, { message: 'first' }] });
});
