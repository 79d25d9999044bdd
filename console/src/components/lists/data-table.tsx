import type { ReactNode } from 'react';
import type { Column } from './resource-list.tsx';
import { TableCells } from './table-row-cells.tsx';
import { TableHead } from './table-head.tsx';
import classes from './resource-list.module.css';

type Props<Row> = {
  /** Accessible name of the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string | number;
};

/** A table that shows all rows, without pagination. */
export function DataTable<Row>({ label, columns, rows, rowKey }: Props<Row>): ReactNode {
  return (
    <div className={classes['scroll']}>
      <table className={classes['table']} aria-label={label}>
        <TableHead columns={columns} />
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              <TableCells row={row} columns={columns} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
