import type { IdentityProvider } from '@mandate/client-sdk';
import { Button, CopyButton, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCommonMessages } from '../../../languages/use-messages.tsx';
import { useSettingsMessages } from '../use-settings-messages.ts';
import classes from '../settings.module.css';

/** URLs that must be registered at the provider. */
export function ProviderUrls({ provider }: { readonly provider: IdentityProvider }): ReactNode {
  const t = useSettingsMessages();
  return (
    <>
      <UrlField label={t('provider.redirect_uri')} url={provider.redirect_uri} />
      <UrlField label={t('provider.backchannel_logout_uri')} url={provider.backchannel_logout_uri} />
    </>
  );
}

function UrlField({ label, url }: { readonly label: string; readonly url: string }): ReactNode {
  const t = useSettingsMessages();
  const common = useCommonMessages();
  return (
    <div className={classes['copyRow']}>
      <TextInput label={label} value={url} readOnly onFocus={(event) => event.currentTarget.select()} />
      <CopyButton value={url}>
        {({ copied, copy }) => (
          <Button variant="default" aria-label={t('copyNamed', { name: label })} onClick={copy}>
            {common(copied ? 'secret.copied' : 'secret.copy')}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
