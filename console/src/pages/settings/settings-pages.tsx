import type { ComponentType, ReactNode } from 'react';
import { Navigate, Route, Routes } from 'react-router';
import { usePermissions } from '../../api/permissions.tsx';
import { NotFoundPage } from '../../layout/not-found-page.tsx';
import { BackupsSection } from './backups/backups-section.tsx';
import { BrandingSection } from './branding/branding-section.tsx';
import { DeliveryMethodList } from './delivery/delivery-method-list.tsx';
import { IdentityProviderList } from './identity-providers/identity-provider-list.tsx';
import { listPermittedSettingsSections } from './settings-sections.ts';
import { StaffSection } from './staff/staff-section.tsx';

const components: Readonly<Record<ReturnType<typeof listPermittedSettingsSections>[number]['path'], ComponentType>> = {
  branding: BrandingSection,
  delivery: DeliveryMethodList,
  staff: StaffSection,
  'identity-providers': IdentityProviderList,
  backups: BackupsSection,
};

export function SettingsPages(): ReactNode {
  const sections = listPermittedSettingsSections(usePermissions().can);
  const [first] = sections;
  return (
    <Routes>
      {first && <Route index element={<Navigate to={first.path} replace />} />}
      {sections.map(({ path }) => {
        const Section = components[path];
        return <Route key={path} path={path} element={<Section />} />;
      })}
      <Route path="*" element={<NotFoundPage />} />
    </Routes>
  );
}
