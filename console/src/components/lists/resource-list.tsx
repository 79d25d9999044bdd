import type { QueryOf } from '@mandate/client-sdk/query';
import { Button, Skeleton } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { shouldErrorReplaceData } from '../../api/should-error-replace-data.ts';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { EmptyState } from '../feedback/empty-state.tsx';
import { ErrorNotice } from '../feedback/error-notice.tsx';
import { PaginationButtons } from './pagination-buttons.tsx';
import { TableCells } from './table-row-cells.tsx';
import { TableHead } from './table-head.tsx';
import classes from './resource-list.module.css';

export type Column<Row> = {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Alignment of the cells: `end` for numbers. */
  readonly align?: 'end';
  /** Whether the column is hidden in narrow windows. */
  readonly isSecondary?: boolean;
  /** Whether long texts continue on the next line instead of being cut. The first column always wraps in narrow windows. */
  readonly wraps?: boolean;
  /** Second line of the cell in narrow windows, with the content of a hidden column. */
  readonly narrowDetail?: (row: Row) => ReactNode;
};

type Page<Row> = { readonly data: readonly Row[]; readonly next_cursor: string | null };

type Props<Row> = {
  /** Accessible name of the table. */
  readonly label: string;
  /** Columns; the first column contains the link to the row's page. */
  readonly columns: readonly Column<Row>[];
  /** Returns the query for one page of the list: `(page) => queries.orders.list({ ...filters, ...page })`. */
  readonly query: (page: { readonly limit: number; readonly cursor?: string }) => QueryOf<Page<Row>>;
  readonly rowKey: (row: Row) => string | number;
  /** Path of the row's page; without it, rows are not links. */
  readonly rowPath?: (row: Row) => string;
  /** Shown if the list is empty and the user has not searched or filtered. */
  readonly empty?: ReactNode;
};

/** Number of rows per page. */
export const pageSize = 25;

/**
 * A table of resources with keyset pagination. The cursor is in the URL, so that users can link to any page of the list. Only one page is
 * rendered, so the list stays responsive with any number of rows.
 */
export function ResourceList<Row>(props: Props<Row>): ReactNode {
  const { label, columns, query, rowKey, rowPath, empty } = props;
  const t = useCommonTranslations();
  const [parameters, setParameters] = useSearchParams();
  const cursor = parameters.get('cursor') ?? undefined;
  const page = useQuery({ ...query({ limit: pageSize, ...(cursor !== undefined && { cursor }) }), placeholderData: keepPreviousData });
  const isFiltered = [...parameters.keys()].some((name) => name !== 'cursor');
  if (shouldErrorReplaceData(page.error, page.data)) return <ErrorNotice error={page.error} onRetry={() => void page.refetch()} />;
  if (page.data?.data.length === 0)
    return isFiltered || cursor !== undefined ? (
      <EmptyState title={t('list.noMatch')}>
        <Button variant="default" onClick={() => setParameters({})}>
          {t('list.clear')}
        </Button>
      </EmptyState>
    ) : (
      (empty ?? <EmptyState title={t('list.empty')} />)
    );
  return (
    <>
      <div className={classes['scroll']} data-stale={page.isPlaceholderData}>
        <table className={classes['table']} aria-label={label} aria-busy={page.isPending}>
          <TableHead columns={columns} />
          <tbody>
            {page.data ? (
              page.data.data.map((row) => (
                <tr key={rowKey(row)}>
                  <TableCells row={row} columns={columns} path={rowPath?.(row)} />
                </tr>
              ))
            ) : (
              <LoadingRows columnCount={columns.length} />
            )}
          </tbody>
        </table>
      </div>
      <PaginationButtons nextCursor={page.data?.next_cursor ?? null} rowCount={page.data?.data.length ?? 0} />
    </>
  );
}

function LoadingRows({ columnCount }: { readonly columnCount: number }): ReactNode {
  const t = useCommonTranslations();
  return Array.from({ length: 8 }, (_, index) => (
    <tr key={index}>
      <td colSpan={columnCount}>
        <Skeleton height={14} width={`${85 - ((index * 13) % 40)}%`} aria-label={t('list.loading')} role="img" />
      </td>
    </tr>
  ));
}
