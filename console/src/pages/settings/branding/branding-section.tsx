import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { TwoColumnLayout } from '../../../components/page-sections/two-column-layout.tsx';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { SettingsHeaderWithTabs } from '../settings-header-with-tabs.tsx';
import { BrandingForm } from './branding-form.tsx';
import { ShopLogoCard } from './shop-logo-card.tsx';

export function BrandingSection(): ReactNode {
  const { data: branding, error, refetch } = useQuery(queries.branding.get());
  return (
    <>
      <SettingsHeaderWithTabs />
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {branding ? (
        <TwoColumnLayout main={<BrandingForm branding={branding} />} side={<ShopLogoCard branding={branding} />} />
      ) : (
        !error && <PageSkeleton />
      )}
    </>
  );
}
