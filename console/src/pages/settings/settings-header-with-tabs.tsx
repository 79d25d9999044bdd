import type { ReactNode } from 'react';
import { usePermissions } from '../../api/permissions.tsx';
import { PageHeader } from '../../components/page-sections/page-header.tsx';
import { PageTabs } from '../../components/page-sections/page-tabs.tsx';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { listPermittedSettingsSections } from './settings-sections.ts';
import { useSettingsTranslations } from './use-settings-translations.ts';

/** Title, actions and sections of the page. */
export function SettingsHeaderWithTabs({ actions }: { readonly actions?: ReactNode }): ReactNode {
  const t = useSettingsTranslations();
  const common = useCommonTranslations();
  const tabs = listPermittedSettingsSections(usePermissions().can).map(({ path }) => ({
    to: `/settings/${path}`,
    name: t(`section.${path}`),
  }));
  return (
    <>
      <PageHeader title={common('page.settings')} actions={actions} />
      <PageTabs label={t('sections')} tabs={tabs} />
    </>
  );
}
