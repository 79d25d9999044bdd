import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { EmptyState } from '../components/feedback/empty-state.tsx';
import { PageHeader } from '../components/page-sections/page-header.tsx';
import { useCommonTranslations } from '../languages/use-translations.tsx';

export function NotFoundPage(): ReactNode {
  const t = useCommonTranslations();
  return (
    <>
      <PageHeader title={t('notFound.title')} />
      <EmptyState text={t('notFound.about')}>
        <Button variant="default" component={Link} to="/">
          {t('notFound.action')}
        </Button>
      </EmptyState>
    </>
  );
}
