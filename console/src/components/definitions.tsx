import { Fragment, type ReactNode } from 'react';
import classes from './definitions.module.css';

type Props = { readonly entries: readonly (readonly [name: string, value: ReactNode])[] };

/** Names and values of a resource. */
export function Definitions({ entries }: Props): ReactNode {
  return (
    <dl className={classes['definitions']}>
      {entries.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
