import type { ReactNode } from 'react';

type HeadColumn = { readonly id: string; readonly header: string; readonly align?: 'end'; readonly isSecondary?: boolean };

/** Column names of a table. */
export const TableHead = ({ columns }: { readonly columns: readonly HeadColumn[] }): ReactNode => (
  <thead>
    <tr>
      {columns.map(({ id, header, align, isSecondary }) => (
        <th key={id} scope="col" data-align={align} data-secondary={isSecondary}>
          {header}
        </th>
      ))}
    </tr>
  </thead>
);
