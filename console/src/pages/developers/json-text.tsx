import type { ReactNode } from 'react';
import classes from './json-text.module.css';

/** Shows a value as JSON. Long lines can be scrolled, even with the keyboard. */
export function JsonText({ label, value }: { readonly label: string; readonly value: unknown }): ReactNode {
  return (
    // `tabIndex` lets keyboard users scroll.
    <pre className={classes['json']} role="region" aria-label={label} tabIndex={0}>
      {value === undefined ? '…' : JSON.stringify(value, undefined, 2)}
    </pre>
  );
}
