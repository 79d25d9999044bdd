import type { Application } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { StatusBadge } from '../../../components/feedback/status-badge.tsx';
import { useApplicationsTranslations } from '../use-applications-translations.ts';

type Props = Pick<Application, 'allow_nonce_instead_of_pkce' | 'allow_neither_pkce_nor_nonce'>;

/**
 * Describes which parameters authorization requests must contain, so that injected authorization codes are detected (RFC 9700 section
 * 2.1.1).
 */
export function PkceAndNonceRequirementText({
  allow_nonce_instead_of_pkce: nonce,
  allow_neither_pkce_nor_nonce: nothing,
}: Props): ReactNode {
  const t = useApplicationsTranslations();
  if (!nothing) return t(nonce ? 'codeProtection.nonce' : 'codeProtection.pkce');
  return (
    <>
      <StatusBadge tone="warning">{t('codeProtection.nothing')}</StatusBadge> {t('codeProtection.aboutNothing')}
    </>
  );
}
