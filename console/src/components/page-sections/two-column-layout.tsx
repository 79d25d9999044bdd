import type { ReactNode } from 'react';
import classes from './two-columns.module.css';

type Props = { readonly main: ReactNode; readonly side: ReactNode };

/** Layout of a detail page: sections side by side, or stacked in narrow windows. */
export function TwoColumnLayout({ main, side }: Props): ReactNode {
  return (
    <div className={classes['columns']}>
      <div className={classes['column']}>{main}</div>
      <div className={classes['column']}>{side}</div>
    </div>
  );
}
