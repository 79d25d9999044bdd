import { useMemo } from 'react';

/**
 * Returns an idempotency key for an action with this input. If the response to an attempt was lost, another attempt with the same input has
 * the same key, so that the action is not performed twice.
 */
export function useIdempotencyKey(input: unknown): string {
  const text = JSON.stringify(input);
  return useMemo(() => crypto.randomUUID(), [text]);
}
