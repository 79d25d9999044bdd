import type { ReactNode } from 'react';
import { Icon } from '../icon.tsx';
import classes from './notice.module.css';

type Props = { readonly text: string; readonly tone?: 'warning' | 'critical'; readonly children?: ReactNode };

/** Shows a warning, a problem or a required step, with an alert icon and optional content such as a button. */
export function Notice({ text, tone = 'warning', children }: Props): ReactNode {
  return (
    <div role="status" className={classes['notice']} data-tone={tone}>
      <Icon name="alert" />
      <p className={classes['text']}>{text}</p>
      {children}
    </div>
  );
}
