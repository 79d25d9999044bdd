import type { ReactNode } from 'react';

/** An error message, which screen readers announce when it appears. */
export const Notice = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <div role="alert">{children ? <p className="notice">{children}</p> : null}</div>
);
