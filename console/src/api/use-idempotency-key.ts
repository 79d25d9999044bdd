import { useMemo } from 'react';

/**
 * Returns an idempotency key for an action with this input. Another attempt with the same input uses the same key, so that the action is
 * not performed twice if the response to the first attempt was lost.
 */
export function useIdempotencyKey(input: unknown): string {
  const text = JSON.stringify(input);
  return useMemo(() => crypto.randomUUID(), [text]);
}
