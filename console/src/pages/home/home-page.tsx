import type { ReactNode } from 'react';
import { PageHeader } from '../../components/page-header.tsx';
import { useCommonMessages } from '../../languages/use-messages.tsx';

export function Page(): ReactNode {
  const t = useCommonMessages();
  return <PageHeader title={t('page.home')} />;
}
