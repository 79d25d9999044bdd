import type { ReactNode } from 'react';
import { Route, Routes } from 'react-router';
import { PageHeader } from '../../components/page-sections/page-header.tsx';
import { PageTabs } from '../../components/page-sections/page-tabs.tsx';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { NotFoundPage } from '../../layout/not-found-page.tsx';
import { AuditEventList } from './audit-event-list.tsx';
import { GrantsSection } from './grants/grants-section.tsx';
import { useAuditTranslations } from './use-audit-translations.ts';

export function AuditPages(): ReactNode {
  return (
    <Routes>
      <Route index element={<Section name="events" />} />
      <Route path="grants" element={<Section name="grants" />} />
      <Route path="*" element={<NotFoundPage />} />
    </Routes>
  );
}

function Section({ name }: { readonly name: 'events' | 'grants' }): ReactNode {
  const t = useAuditTranslations();
  const common = useCommonTranslations();
  return (
    <>
      <PageHeader title={common('page.audit')} />
      <PageTabs
        label={t('sections')}
        tabs={[
          { to: '/audit', name: t('section.events') },
          { to: '/audit/grants', name: t('section.grants') },
        ]}
      />
      {name === 'events' ? <AuditEventList /> : <GrantsSection />}
    </>
  );
}
