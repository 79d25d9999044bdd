import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useLocation, useNavigate, useSearchParams } from 'react-router';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import classes from './pagination-buttons.module.css';

type Props = { readonly nextCursor: string | null; readonly rowCount: number };

/**
 * Buttons for the next, previous and first page. The API returns only the cursor of the next page, so the cursors of the previous pages are
 * stored in the browser's history entry. If the user opened the page through a link, the previous page is unknown, so the user can go back
 * only to the first page.
 */
export function PaginationButtons({ nextCursor, rowCount }: Props): ReactNode {
  const t = useCommonTranslations();
  const navigate = useNavigate();
  const location = useLocation();
  const [parameters] = useSearchParams();
  const cursor = parameters.get('cursor');
  const previous = readCursors(location.state);
  const show = (target: string | null, cursors: readonly string[]): void => {
    const next = new URLSearchParams(parameters);
    if (target === null || target === '') next.delete('cursor');
    else next.set('cursor', target);
    void navigate({ search: next.toString() }, { state: { cursors } });
  };
  return (
    <div className={classes['pages']}>
      <span className={classes['count']}>{t('list.rowCount', { count: rowCount })}</span>
      {(cursor !== null || nextCursor !== null) && (
        <nav aria-label={t('list.pages')} className={classes['buttons']}>
          {cursor !== null && previous.length !== 1 && (
            <Button size="xs" variant="default" onClick={() => show(null, [])}>
              {t('list.first')}
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            disabled={previous.length === 0}
            onClick={() => show(previous.at(-1) ?? null, previous.slice(0, -1))}
          >
            {t('list.previous')}
          </Button>
          <Button size="xs" variant="default" disabled={nextCursor === null} onClick={() => show(nextCursor, [...previous, cursor ?? ''])}>
            {t('list.next')}
          </Button>
        </nav>
      )}
    </div>
  );
}

/** Returns the cursors of the previous pages. An empty string represents the first page. */
function readCursors(state: unknown): readonly string[] {
  const cursors = typeof state === 'object' && state !== null && 'cursors' in state ? state.cursors : [];
  return Array.isArray(cursors) ? cursors.filter((cursor) => typeof cursor === 'string') : [];
}
