import type { ReactNode } from 'react';
import classes from './property-list.module.css';

export type Property = { readonly name: string; readonly value: ReactNode };

/** Names and values of a resource's properties. Properties without a value are omitted. */
export function PropertyList({ properties }: { readonly properties: readonly Property[] }): ReactNode {
  return (
    <dl className={classes['list']}>
      {properties
        .filter(({ value }) => value !== null && value !== undefined && value !== '')
        .map(({ name, value }) => (
          <div key={name} className={classes['property']}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
