import type { ReactNode } from 'react';
import classes from './status-badge.module.css';

/** Meaning of a status, which determines its color. */
export type Tone = 'neutral' | 'info' | 'positive' | 'warning' | 'critical';

export function StatusBadge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }): ReactNode {
  return (
    <span className={classes['badge']} data-tone={tone}>
      {children}
    </span>
  );
}
