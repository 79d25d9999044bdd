import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { useSetUrlFilterAndResetPage } from './use-set-url-filter-and-reset-page.ts';

type Props = {
  /** URL parameter that contains the filter. */
  readonly parameter: string;
  readonly text: string;
};

/** A filter that a link on another page has set, with a button that removes it. */
export function ActiveFilter({ parameter, text }: Props): ReactNode {
  const t = useCommonTranslations();
  const setFilter = useSetUrlFilterAndResetPage();
  return (
    <Button
      variant="light"
      rightSection={<span aria-hidden="true">×</span>}
      aria-label={t('list.removeFilter', { name: text })}
      onClick={() => setFilter(parameter, '')}
    >
      {text}
    </Button>
  );
}
