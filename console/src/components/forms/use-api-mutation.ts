import { notifications } from '@mantine/notifications';
import type { MutationOf } from '@mandate/client-sdk/query';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { keyOf } from '../../api/client.ts';
import { useCommonMessages } from '../../languages/use-messages.tsx';
import { describeError } from '../feedback/error-notice.tsx';

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
  const t = useCommonMessages();
  const queryClient = useQueryClient();
  return useMutation({
    ...mutation,
    onError: (error) => {
      if (notifiesErrors) notifications.show({ color: 'red', title: t('error.title'), message: describeError(error, t) });
    },
    onSuccess: async (data) => {
      notifications.show({ message: doneMessage, autoClose: 4_000 });
      onDone?.(data);
      await Promise.all(changes.map((resource) => queryClient.invalidateQueries({ queryKey: keyOf(resource) })));
    },
  });
}
