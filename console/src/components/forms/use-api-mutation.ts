import type { MutationOf } from '@mandate/client-sdk/query';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { keyOf } from '../../api/client.ts';
import { useTemporaryNotices } from '../feedback/use-temporary-notices.ts';

type Options<Data> = {
  /** Resources that the action changes; the console refetches them. */
  readonly changes: readonly Parameters<typeof keyOf>[0][];
  /** Text that confirms the action. */
  readonly doneMessage: string;
  readonly onDone?: ((data: Data) => void) | undefined;
  /** Whether to show errors as notifications, for buttons that have no space for errors, such as buttons in a table. */
  readonly notifiesErrors?: boolean;
};

/** Runs an API mutation. On success, shows a confirmation and refetches the changed data. */
export function useApiMutation<Data, Variables>(
  mutation: MutationOf<Data, Variables>,
  { changes, doneMessage, onDone, notifiesErrors = false }: Options<Data>,
) {
  const notices = useTemporaryNotices();
  const queryClient = useQueryClient();
  return useMutation({
    ...mutation,
    onMutate: notices.removePrevious,
    onError: (error) => {
      if (notifiesErrors) notices.showError(error);
    },
    onSuccess: async (data) => {
      notices.showDone(doneMessage);
      onDone?.(data);
      await Promise.all(changes.map((resource) => queryClient.invalidateQueries({ queryKey: keyOf(resource) })));
    },
  });
}
