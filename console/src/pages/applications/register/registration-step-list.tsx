import type { ReactNode } from 'react';
import classes from '../applications.module.css';

/** Steps of the wizard; `current` is the index of the displayed step. */
export function RegistrationStepList({ names, current }: { readonly names: readonly string[]; readonly current: number }): ReactNode {
  return (
    <ol className={classes['steps']}>
      {names.map((name, index) => (
        <li key={name} aria-current={index === current ? 'step' : undefined}>
          <span className={classes['number']} aria-hidden="true">
            {index + 1}
          </span>
          {name}
        </li>
      ))}
    </ol>
  );
}
