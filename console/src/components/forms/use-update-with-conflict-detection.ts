import { ApiError, type ResponseWithData } from '@mandate/client-sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { keyOf } from '../../api/client.ts';
import { useTemporaryNotices } from '../feedback/use-temporary-notices.ts';

type Options<Resource, Changes> = {
  /** Reads the current version of the resource with its ETag. */
  readonly read: () => PromiseLike<ResponseWithData<Resource>>;
  /** Changes the resource if its ETag is still the same. */
  readonly write: (changes: Changes, ifMatch: string, current: Resource) => PromiseLike<unknown>;
  /** Resources that the action changes; the console refetches them. */
  readonly changes: readonly Parameters<typeof keyOf>[0][];
  /** Text that confirms the action. */
  readonly doneMessage: string;
  readonly onDone?: () => void;
};

/** A change that was not saved because another user has changed the same fields. */
export type UpdateConflict<Resource, Changes> = {
  readonly current: Resource;
  readonly changes: Changes;
  readonly fields: readonly string[];
};

/** Maximum number of attempts while other fields of the resource keep changing. */
const maxAttempts = 3;

/**
 * Changes fields of a resource with `If-Match`. If another user has changed the same fields in the meantime, nothing is saved, and
 * `conflict` contains the current version. Concurrent changes to other fields are kept.
 */
export function useUpdateWithConflictDetection<Resource extends object, Changes extends object>(options: Options<Resource, Changes>) {
  const { read, write, changes: changedResources, doneMessage, onDone } = options;
  const queryClient = useQueryClient();
  const notices = useTemporaryNotices();
  const [conflict, setConflict] = useState<UpdateConflict<Resource, Changes>>();
  const mutation = useMutation({
    mutationFn: ({ seen, changes }: { readonly seen: Resource; readonly changes: Changes }) => update({ read, write }, seen, changes),
    onMutate: notices.removePrevious,
    onSuccess: async (found) => {
      setConflict(found);
      if (!found) {
        notices.showDone(doneMessage);
        onDone?.();
      }
      // After a conflict, the page shows the other user's changes.
      await Promise.all(changedResources.map((resource) => queryClient.invalidateQueries({ queryKey: keyOf(resource) })));
    },
  });
  return {
    conflict,
    error: mutation.error,
    isPending: mutation.isPending,
    /** Saves `changes`; `seen` is the version that the user saw. */
    save: (seen: Resource, changes: Changes) => mutation.mutate({ seen, changes }),
    /** Saves the conflicting changes and overwrites the other user's changes. */
    overwrite: () => conflict && mutation.mutate({ seen: conflict.current, changes: conflict.changes }),
    dismissConflict: () => setConflict(undefined),
  };
}

/** Returns the conflict, or `undefined` after the changes have been saved. */
async function update<Resource extends object, Changes extends object>(
  { read, write }: Pick<Options<Resource, Changes>, 'read' | 'write'>,
  seen: Resource,
  changes: Changes,
): Promise<UpdateConflict<Resource, Changes> | undefined> {
  for (let attempt = 1; ; attempt++) {
    const { data: current, headers } = await read();
    const fields = Object.keys(changes).filter((field) => textOf(current, field) !== textOf(seen, field));
    if (fields.some((field) => textOf(current, field) !== textOf(changes, field))) return { current, changes, fields };
    try {
      await write(changes, headers.get('etag') ?? '*', current);
      return undefined;
    } catch (error) {
      const isConcurrent = error instanceof ApiError && error.code === 'precondition_failed';
      if (!isConcurrent || attempt === maxAttempts) throw error;
    }
  }
}

/** Serializes the value of a field, so that values can be compared. */
const textOf = (resource: object, field: string): string =>
  JSON.stringify(Object.entries(resource).find(([name]) => name === field)?.[1] ?? null);
