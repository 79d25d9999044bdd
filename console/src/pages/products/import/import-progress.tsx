import '@mantine/core/styles/Progress.layer.css';
import type { Task } from '@mandate/client-sdk';
import { Button, Progress } from '@mantine/core';
import type { ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { useAction } from '../../../components/forms/use-action.ts';
import { useFormat } from '../../../languages/use-format.ts';
import { useProductsMessages } from '../use-products-messages.ts';
import classes from '../detail/product-form.module.css';

/** Progress of an import. `task` is undefined while the file is uploaded. */
export function ImportProgress({ task, isPreview }: { readonly task: Task | undefined; readonly isPreview: boolean }): ReactNode {
  const t = useProductsMessages();
  const format = useFormat();
  const { processed = 0, total = null } = task?.progress ?? {};
  const label = isPreview ? t('import.checking') : t('import.importing');
  // At least 2%, so that the bar is visible from the start.
  const percentage = Math.max(2, total === null || total === 0 ? 0 : (100 * processed) / total);
  return (
    <div className={classes['form']} aria-live="polite">
      <p>{label}</p>
      <Progress.Root size="lg">
        <Progress.Section value={percentage} aria-label={label} animated={percentage < 100} />
      </Progress.Root>
      <p>
        {total === null ? t('import.waiting') : t('import.progress', { processed: format.number(processed), total: format.number(total) })}
      </p>
      {task && (
        <IfPermitted operation="tasks.cancel">
          <CancelTask taskId={task.id} />
        </IfPermitted>
      )}
    </div>
  );
}

function CancelTask({ taskId }: { readonly taskId: number }): ReactNode {
  const t = useProductsMessages();
  const cancel = useAction(mutations.tasks.cancel(taskId), { changes: ['tasks'], doneMessage: t('import.canceled') });
  return (
    <div>
      <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
        {t('import.cancel')}
      </Button>
    </div>
  );
}
