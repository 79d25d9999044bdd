import type { ReactNode } from 'react';

/** What went wrong, read out by screen readers as it appears. */
export const Notice = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <div role="alert">{children ? <p className="notice">{children}</p> : null}</div>
);
