import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorOrSignInAgainNotice } from '../feedback/error-or-sign-in-again-notice.tsx';
import { Dialog } from './dialog.tsx';
import { FormActions } from '../forms/form-actions.tsx';

type Props = {
  readonly title: string;
  readonly text: string;
  /** Label of the button that performs the action. */
  readonly action: string;
  /** Whether the action is irreversible; if so, the button's color warns the user (default: true). */
  readonly isDangerous?: boolean;
  readonly isOpen: boolean;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** Additional fields. */
  readonly children?: ReactNode;
};

/** Dialog that asks the user to confirm an action. */
export function ConfirmDialog(props: Props): ReactNode {
  const { title, text, action, isDangerous = true, isOpen, isPending, error, onConfirm, onClose, children } = props;
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm();
        }}
      >
        <Stack gap="md">
          <p>{text}</p>
          {children}
          <ErrorOrSignInAgainNotice error={error} />
        </Stack>
        <FormActions submit={action} isDangerous={isDangerous} isPending={isPending} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
