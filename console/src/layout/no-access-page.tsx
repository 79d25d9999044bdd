import { useSession } from '@mandate/client-sdk/react';
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { usePermissions } from '../api/permissions.tsx';
import { consoleEnvironment } from '../console-environment.ts';
import { useCommonTranslations } from '../languages/use-translations.tsx';
import { ShopLogoAndName } from './shop-logo-and-name.tsx';
import classes from './centered.module.css';

/** Shown to customers, who can sign in but have none of the permissions that the console requires. */
export function NoAccessPage(): ReactNode {
  const t = useCommonTranslations();
  const { signOut } = useSession();
  const { user } = usePermissions();
  return (
    <main className={classes['screen']}>
      <div className={classes['box']}>
        <ShopLogoAndName />
        <h1>{t('noAccess.title')}</h1>
        <p>{t('noAccess.about')}</p>
        {user && <p>{t('noAccess.asUser', { email: user.email })}</p>}
        <div className={classes['actions']}>
          <Button onClick={() => void signOut()}>{t('signOut')}</Button>
          <Button variant="default" component="a" href={`${consoleEnvironment.issuer}/account`}>
            {t('noAccess.toAccount')}
          </Button>
        </div>
      </div>
    </main>
  );
}
