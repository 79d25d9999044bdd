import { useId, type ReactNode } from 'react';
import classes from './card.module.css';

type Props = { readonly title?: string; readonly actions?: ReactNode; readonly children: ReactNode };

/** A section of a page with a title and a border. */
export function Card({ title, actions, children }: Props): ReactNode {
  const id = useId();
  return (
    <section className={classes['card']} {...(title !== undefined && { 'aria-labelledby': id })}>
      {title !== undefined && (
        <div className={classes['head']}>
          <h2 id={id}>{title}</h2>
          {actions}
        </div>
      )}
      {children}
    </section>
  );
}
