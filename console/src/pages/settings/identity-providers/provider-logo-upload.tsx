import type { IdentityProvider } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { mutations, queries } from '../../../api/client.ts';
import { LogoUpload, logoLimitsInKibAndPixels } from '../logo-upload.tsx';
import { useSettingsTranslations } from '../use-settings-translations.ts';

/** The logo on the provider's button. A new logo is stored immediately, not with the other fields of the form. */
export function ProviderLogoUpload({ provider }: { readonly provider: IdentityProvider }): ReactNode {
  const t = useSettingsTranslations();
  const { id } = provider;
  const { data: current = provider } = useQuery(queries.identityProviders.get(id));
  return (
    <LogoUpload
      logo={current.logo}
      name={current.name}
      about={t('provider.logoAbout', logoLimitsInKibAndPixels)}
      resource="identityProviders"
      setLogo={mutations.identityProviders.setLogo(id)}
      deleteLogo={mutations.identityProviders.deleteLogo(id)}
    />
  );
}
