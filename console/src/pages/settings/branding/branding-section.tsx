import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { TwoColumnLayout } from '../../../components/page-sections/two-column-layout.tsx';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { SettingsHeader } from '../settings-header.tsx';
import { BrandingForm } from './branding-form.tsx';
import { LogoCard } from './logo-card.tsx';

export function BrandingSection(): ReactNode {
  const { data: branding, error, refetch } = useQuery(queries.branding.get());
  return (
    <>
      <SettingsHeader />
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {branding ? (
        <TwoColumnLayout main={<BrandingForm branding={branding} />} side={<LogoCard branding={branding} />} />
      ) : (
        !error && <PageSkeleton />
      )}
    </>
  );
}
