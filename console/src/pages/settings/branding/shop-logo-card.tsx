import type { Branding } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { LogoUpload, logoLimitsInKibAndPixels } from '../logo-upload.tsx';
import { useSettingsTranslations } from '../use-settings-translations.ts';

export function ShopLogoCard({ branding }: { readonly branding: Branding }): ReactNode {
  const t = useSettingsTranslations();
  return (
    <Card title={t('logo')}>
      <LogoUpload
        logo={branding.logo}
        name={branding.name}
        about={t('logo.about', logoLimitsInKibAndPixels)}
        resource="branding"
        setLogo={mutations.branding.setLogo()}
        deleteLogo={mutations.branding.deleteLogo()}
      />
    </Card>
  );
}
