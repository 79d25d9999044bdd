import type { Backup, Task } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { Notice } from '../../../components/feedback/notice.tsx';
import { TaskProgressWithCancelButton } from '../../../components/feedback/task-progress-with-cancel-button.tsx';
import { Card } from '../../../components/page-sections/card.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import { isTaskUnfinished } from './use-latest-backup-task.ts';

type Props = { readonly task: Task | undefined; readonly latest: Backup | undefined };

/**
 * Progress of a backup or check, and the reason if it failed. Renders nothing after a successful task, or if the page already shows that the
 * latest backup is damaged.
 */
export function BackupTaskCard({ task, latest }: Props): ReactNode {
  const t = useSettingsTranslations();
  const format = useFormat();
  if (task?.error) {
    const isDamaged = task.error.code === 'backup_damaged';
    if (isDamaged && latest?.check_result === 'damaged') return null;
    return <Notice text={t.value('backupError', task.error.code)} tone={isDamaged ? 'critical' : 'warning'} />;
  }
  if (!task || !isTaskUnfinished(task)) return null;
  const { processed, total } = task.progress;
  return (
    <Card>
      <TaskProgressWithCancelButton
        task={task}
        label={t(task.type === 'backup_check' ? 'backup.checking' : 'backup.creating')}
        text={total === null || total === 0 ? t('backup.waiting') : t('backup.progress', { percent: format.percent(processed / total) })}
        cancelText={t('backup.cancel')}
        canceledMessage={t('backup.canceled')}
      />
    </Card>
  );
}
