import type { ReactNode } from 'react';
import { Card } from '../../components/page-sections/card.tsx';
import { SettingsHeader } from './settings-header.tsx';
import { useSettingsMessages } from './use-settings-messages.ts';
import classes from './settings.module.css';

/** Shows the commands for backups, because the API has no operations for them. */
export function Backups(): ReactNode {
  const t = useSettingsMessages();
  return (
    <>
      <SettingsHeader />
      <div className={classes['narrow']}>
        <Card title={t('section.backups')}>
          <p>{t('backup.about')}</p>
          <pre className={classes['command']}>npx mandate-server backup shop.backup</pre>
          <p>{t('backup.restore')}</p>
          <pre className={classes['command']}>npx mandate-server restore shop.backup</pre>
          <p className={classes['muted']}>{t('backup.secret')}</p>
        </Card>
      </div>
    </>
  );
}
