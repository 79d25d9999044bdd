import type { IdentityProvider } from '@mandate/client-sdk';
import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyTextButton } from '../../../components/forms/copy-text-button.tsx';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import classes from '../settings.module.css';

/** Shows the URLs that must be registered with the provider. */
export function UrlsToRegisterAtProvider({ provider }: { readonly provider: IdentityProvider }): ReactNode {
  const t = useSettingsTranslations();
  return (
    <>
      <UrlField label={t('provider.redirect_uri')} url={provider.redirect_uri} />
      <UrlField label={t('provider.backchannel_logout_uri')} url={provider.backchannel_logout_uri} />
    </>
  );
}

function UrlField({ label, url }: { readonly label: string; readonly url: string }): ReactNode {
  const t = useSettingsTranslations();
  return (
    <div className={classes['copyRow']}>
      <TextInput label={label} value={url} readOnly onFocus={(event) => event.currentTarget.select()} />
      <CopyTextButton text={url} label={t('copyNamed', { name: label })} />
    </div>
  );
}
