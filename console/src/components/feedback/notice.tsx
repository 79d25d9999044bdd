import type { ReactNode } from 'react';
import { Icon } from '../icon.tsx';
import classes from './notice.module.css';

type Props = { readonly text: string; readonly children?: ReactNode };

/** Tells the user what to do first, and shows a button for that step. */
export function Notice({ text, children }: Props): ReactNode {
  return (
    <div role="status" className={classes['notice']}>
      <Icon name="alert" />
      <p className={classes['text']}>{text}</p>
      {children}
    </div>
  );
}
