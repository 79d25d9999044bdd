import { AuthorizationError } from '@mandate/client-sdk';
import { useSession } from '@mandate/client-sdk/react';
import { Button } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import { ErrorNotice } from '../components/feedback/error-notice.tsx';
import { useCommonTranslations } from '../languages/use-translations.tsx';
import { ShopLogoAndName } from './shop-logo-and-name.tsx';
import classes from './centered.module.css';

export function SignInPage(): ReactNode {
  const t = useCommonTranslations();
  const { signIn, error } = useSession();
  useEffect(() => {
    document.title = t('signIn.title');
  }, [t]);
  return (
    <main className={classes['screen']}>
      <div className={classes['box']}>
        <ShopLogoAndName />
        <h1>{t('signIn.title')}</h1>
        <p>{t('signIn.about')}</p>
        {error instanceof AuthorizationError ? (
          <p role="alert">{`${t('signIn.failed')}: ${error.message}`}</p>
        ) : (
          <ErrorNotice error={error} />
        )}
        <div className={classes['actions']}>
          <Button onClick={() => void signIn()}>{t('signIn.action')}</Button>
        </div>
      </div>
    </main>
  );
}
