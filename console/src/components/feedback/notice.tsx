import type { ReactNode } from 'react';
import { Icon } from '../icon.tsx';
import classes from './notice.module.css';

type Props = { readonly text: string; readonly children?: ReactNode };

/** Tells the user which step is required first, and shows a button for this step. */
export function Notice({ text, children }: Props): ReactNode {
  return (
    <div role="status" className={classes['notice']}>
      <Icon name="alert" />
      <p className={classes['text']}>{text}</p>
      {children}
    </div>
  );
}
