import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { Column } from './resource-list.tsx';
import classes from './resource-list.module.css';

type Props<Row> = {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  /** Path of the row's page; without it, the row is not a link. */
  readonly path?: string | undefined;
};

/** Cells of a table row. The first cell contains the link to the row's page. */
export function TableCells<Row>({ row, columns, path }: Props<Row>): ReactNode {
  return columns.map(({ id, cell, align, isSecondary, wraps, narrowDetail }, index) => (
    <td key={id} data-align={align} data-secondary={isSecondary} data-wraps={wraps}>
      {index === 0 && path !== undefined ? (
        <Link className={classes['link']} to={path}>
          {cell(row)}
        </Link>
      ) : (
        cell(row)
      )}
      {narrowDetail && <div className={classes['narrowDetail']}>{narrowDetail(row)}</div>}
    </td>
  ));
}
