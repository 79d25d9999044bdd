import type { ReactNode } from 'react';
import classes from './status-badge.module.css';

/** Meaning of a status, which determines its color. */
export type StatusTone = 'neutral' | 'info' | 'positive' | 'warning' | 'critical';

export function StatusBadge({ tone, children }: { readonly tone: StatusTone; readonly children: ReactNode }): ReactNode {
  return (
    <span className={classes['badge']} data-tone={tone}>
      {children}
    </span>
  );
}
