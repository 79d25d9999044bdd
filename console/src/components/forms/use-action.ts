import { notifications } from '@mantine/notifications';
import type { MutationOf } from '@mandate/client-sdk/query';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { keyOf } from '../../api/client.ts';

type Options<Data> = {
  /** Resources whose data the action changes; the console fetches them again. */
  readonly changes: readonly Parameters<typeof keyOf>[0][];
  /** Text that confirms the action. */
  readonly doneMessage: string;
  readonly onDone?: ((data: Data) => void) | undefined;
};

/** Runs a mutation of the API. After it has succeeded, shows a confirmation and fetches the changed data again. */
export function useAction<Data, Variables>(mutation: MutationOf<Data, Variables>, { changes, doneMessage, onDone }: Options<Data>) {
  const queryClient = useQueryClient();
  return useMutation({
    ...mutation,
    onSuccess: async (data) => {
      notifications.show({ message: doneMessage, autoClose: 4_000 });
      onDone?.(data);
      await Promise.all(changes.map((resource) => queryClient.invalidateQueries({ queryKey: keyOf(resource) })));
    },
  });
}
