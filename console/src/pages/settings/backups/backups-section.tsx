import { ApiError } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { mutations, queries } from '../../../api/client.ts';
import { shouldErrorReplaceData } from '../../../api/should-error-replace-data.ts';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { SettingsHeaderWithTabs } from '../settings-header-with-tabs.tsx';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { BackupList } from './backup-list.tsx';
import { LatestBackup } from './latest-backup.tsx';
import { BackupTaskCard } from './backup-task-card.tsx';
import { isTaskUnfinished, useLatestBackupTask } from './use-latest-backup-task.ts';

/** Interval at which the list is refetched. The server sends no events about files that the operator adds or deletes. */
const refetchIntervalMs = 30_000;

/** Shows the state of the backups, and commands for the operator. */
export function BackupsSection(): ReactNode {
  const t = useSettingsTranslations();
  const { data, error, refetch } = useQuery({ ...queries.backups.list({ limit: 1 }), refetchInterval: refetchIntervalMs });
  const task = useLatestBackupTask();
  const create = useApiMutation(mutations.backups.create(), { changes: ['tasks'], doneMessage: t('backup.started') });
  const isConfigured = data !== undefined && !isNotConfigured(error);
  return (
    <>
      <SettingsHeaderWithTabs
        actions={
          isConfigured && (
            <Button loading={create.isPending} disabled={isTaskUnfinished(task)} onClick={() => create.mutate()}>
              {t('backup.create')}
            </Button>
          )
        }
      />
      <div className={classes['sections']}>
        {isNotConfigured(error) && <NotConfigured error={error} />}
        {!isNotConfigured(error) && shouldErrorReplaceData(error, data) && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <PageSkeleton />}
        <ErrorNotice error={create.error} />
        {isConfigured && (
          <>
            {(data.data[0] || !isTaskUnfinished(task)) && <LatestBackup latest={data.data[0]} />}
            <BackupTaskCard task={task} latest={data.data[0]} />
            {data.data.length > 0 && <BackupList isBusy={isTaskUnfinished(task)} />}
          </>
        )}
        <Commands />
      </div>
    </>
  );
}

const isNotConfigured = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'backups_not_configured';

/** Instructions for the operator, in the user's language. */
const NotConfigured = ({ error }: { readonly error: ApiError }): ReactNode => (
  <Card>
    <EmptyState title={error.title} text={error.detail} />
  </Card>
);

function Commands(): ReactNode {
  const t = useSettingsTranslations();
  return (
    <Card title={t('backup.commands')}>
      <p>{t('backup.about')}</p>
      <pre className={classes['command']}>npx mandate-server backup shop.backup</pre>
      <p>{t('backup.restore')}</p>
      <pre className={classes['command']}>npx mandate-server restore shop.backup</pre>
      <p className={classes['muted']}>{t('backup.secret')}</p>
      <p className={classes['muted']}>{t('backup.otherTools')}</p>
    </Card>
  );
}
