import type { ReactNode } from 'react';
import classes from './empty-state.module.css';

type Props = { readonly title?: string; readonly text?: string; readonly children?: ReactNode };

export function EmptyState({ title, text, children }: Props): ReactNode {
  return (
    <div className={classes['empty']}>
      {title !== undefined && <p className={classes['title']}>{title}</p>}
      {text !== undefined && <p>{text}</p>}
      {children}
    </div>
  );
}
