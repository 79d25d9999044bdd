import type { MutationOf } from '@mandate/client-sdk/query';
import type { ReactNode } from 'react';
import { useApiMutation } from '../forms/use-api-mutation.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

type Props<Data> = Pick<Parameters<typeof ConfirmDialog>[0], 'title' | 'text' | 'action' | 'isOpen' | 'onClose'> &
  Parameters<typeof useApiMutation<Data, void>>[1] & {
    /** Deletes the resource. */
    readonly mutation: MutationOf<Data, void>;
  };

/** Dialog that asks the user to confirm a deletion, and performs it. */
export function DeleteDialog<Data>({ mutation, changes, doneMessage, onDone, ...dialog }: Props<Data>): ReactNode {
  const remove = useApiMutation(mutation, { changes, doneMessage, onDone });
  return <ConfirmDialog {...dialog} isPending={remove.isPending} error={remove.error} onConfirm={() => remove.mutate()} />;
}
