import type { ReactNode } from 'react';
import { NavLink } from 'react-router';
import classes from '../lists/list-toolbar.module.css';

type Props = { readonly label: string; readonly tabs: readonly { readonly to: string; readonly name: string }[] };

/** Links to the sections of a page. Renders nothing if there is only one section. */
export function PageTabs({ label, tabs }: Props): ReactNode {
  if (tabs.length < 2) return null;
  return (
    <nav aria-label={label} className={classes['toolbar']}>
      <ul className={classes['tabs']}>
        {tabs.map(({ to, name }) => (
          <li key={to}>
            <NavLink to={to} end aria-current="true" className={classes['tab'] ?? ''}>
              {name}
            </NavLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}
