import type { ReactNode } from 'react';
import { usePermissions } from '../../api/permissions.tsx';
import { PageHeader } from '../../components/page-sections/page-header.tsx';
import { PageTabs } from '../../components/page-sections/page-tabs.tsx';
import { useCommonMessages } from '../../languages/use-messages.tsx';
import { listPermittedSettingsSections } from './settings-sections.ts';
import { useSettingsMessages } from './use-settings-messages.ts';

/** Title, actions and sections of the page. */
export function SettingsHeaderWithTabs({ actions }: { readonly actions?: ReactNode }): ReactNode {
  const t = useSettingsMessages();
  const common = useCommonMessages();
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
