import { Popover } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import classes from './product-list.module.css';

type Props = {
  /** Accessible name of the button and of the form. */
  readonly label: string;
  /** Current value. */
  readonly value: ReactNode;
  /** Form that changes the value. */
  readonly form: (close: () => void) => ReactNode;
};

/** A value in a list that can be changed in place. */
export function CellEditor({ label, value, form }: Props): ReactNode {
  const [isOpen, editor] = useDisclosure(false);
  return (
    <Popover opened={isOpen} onChange={(opened) => !opened && editor.close()} position="bottom-end" width={320} trapFocus returnFocus>
      <Popover.Target>
        <button type="button" className={classes['cellButton']} aria-label={label} title={label} onClick={editor.toggle}>
          {value}
        </button>
      </Popover.Target>
      <Popover.Dropdown aria-label={label}>{form(editor.close)}</Popover.Dropdown>
    </Popover>
  );
}
