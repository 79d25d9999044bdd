import { Button } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = {
  readonly text: string;
  /** Accessible name, which contains the name of the row. */
  readonly label: string;
  /** Whether the action is destructive, such as a deletion. */
  readonly isDangerous?: boolean;
  readonly isPending?: boolean;
  readonly isDisabled?: boolean;
  readonly onClick: () => void;
};

/** Button for an action on a list row. */
export const TableRowButton = ({ text, label, isDangerous = false, isPending = false, isDisabled = false, onClick }: Props): ReactNode => (
  <Button
    size="xs"
    variant={isDangerous ? 'danger' : 'default'}
    aria-label={label}
    loading={isPending}
    disabled={isDisabled}
    onClick={onClick}
  >
    {text}
  </Button>
);
