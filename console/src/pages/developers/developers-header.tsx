import type { ReactNode } from 'react';
import { usePermissions } from '../../api/permissions.tsx';
import { PageHeader } from '../../components/page-sections/page-header.tsx';
import { PageTabs } from '../../components/page-sections/page-tabs.tsx';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { listPermittedDevelopersSections } from './list-permitted-developers-sections.ts';
import { useDevelopersTranslations } from './use-developers-translations.ts';

/** Title, actions and sections of the page. */
export function DevelopersHeader({ actions }: { readonly actions?: ReactNode }): ReactNode {
  const t = useDevelopersTranslations();
  const common = useCommonTranslations();
  const tabs = listPermittedDevelopersSections(usePermissions().can).map(({ path }) => ({
    to: `/developers/${path}`,
    name: t(`section.${path}`),
  }));
  return (
    <>
      <PageHeader title={common('page.developers')} actions={actions} />
      <PageTabs label={t('sections')} tabs={tabs} />
    </>
  );
}
