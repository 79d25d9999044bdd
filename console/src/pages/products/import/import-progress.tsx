import type { Task } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { TaskProgressWithCancelButton } from '../../../components/feedback/task-progress-with-cancel-button.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useProductsTranslations } from '../use-products-translations.ts';

/** Progress of an import. `task` is undefined while the file is uploaded. */
export function ImportProgress({ task, isPreview }: { readonly task: Task | undefined; readonly isPreview: boolean }): ReactNode {
  const t = useProductsTranslations();
  const format = useFormat();
  const { processed = 0, total = null } = task?.progress ?? {};
  return (
    <TaskProgressWithCancelButton
      task={task}
      label={isPreview ? t('import.checking') : t('import.importing')}
      text={
        total === null ? t('import.waiting') : t('import.progress', { processed: format.number(processed), total: format.number(total) })
      }
      cancelText={t('import.cancel')}
      canceledMessage={t('import.canceled')}
    />
  );
}
