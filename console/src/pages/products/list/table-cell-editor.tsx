import { Popover } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Fragment, useState, type ReactNode } from 'react';
import classes from './product-list.module.css';

type Props = {
  /** Accessible name of the button and of the form. */
  readonly label: string;
  /** Current value. */
  readonly value: ReactNode;
  /** Form that changes the value. */
  readonly form: (close: () => void) => ReactNode;
};

/** A value in a list that can be edited in place. */
export function TableCellEditor({ label, value, form }: Props): ReactNode {
  const [isOpen, editor] = useDisclosure(false);
  // This key changes whenever the form opens or closes, so that a form that is reopened while it is closing starts with the current value.
  const [openings, setOpenings] = useState(0);
  const toggle = (): void => {
    setOpenings(openings + 1);
    editor.toggle();
  };
  return (
    <Popover opened={isOpen} onChange={(opened) => !opened && editor.close()} position="bottom-end" width={320} trapFocus returnFocus>
      <Popover.Target>
        <button type="button" className={classes['cellButton']} aria-label={label} title={label} onClick={toggle}>
          {value}
        </button>
      </Popover.Target>
      <Popover.Dropdown aria-label={label}>
        <Fragment key={openings}>{form(editor.close)}</Fragment>
      </Popover.Dropdown>
    </Popover>
  );
}
