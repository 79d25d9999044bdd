import { Textarea } from '@mantine/core';
import type { ReactNode } from 'react';
import { findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { useApplicationsTranslations } from '../use-applications-translations.ts';

type Props = { readonly value: string; readonly error: unknown; readonly onChange: (value: string) => void };

/** Redirect URIs, one per line. */
export function RedirectUrisField({ value, error, onChange }: Props): ReactNode {
  const t = useApplicationsTranslations();
  return (
    <Textarea
      label={t('field.redirect_uris')}
      description={t('register.aboutRedirectUris')}
      placeholder="https://app.example/callback"
      required
      rows={3}
      value={value}
      error={findFieldErrorDetail(error, '#/redirect_uris')}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
