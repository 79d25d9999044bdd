import '@mantine/core/styles/Progress.layer.css';
import type { Task } from '@mandate/client-sdk';
import { Button, Progress } from '@mantine/core';
import type { ReactNode } from 'react';
import { mutations } from '../../api/client.ts';
import { IfPermitted } from '../../api/permissions.tsx';
import { useApiMutation } from '../forms/use-api-mutation.ts';
import classes from './task-progress.module.css';

type Props = {
  /** The task; `undefined` while it is being started. */
  readonly task: Task | undefined;
  /** Description of the task. */
  readonly label: string;
  /** Text that describes the completed part. */
  readonly text: string;
  readonly cancelText: string;
  /** Text that confirms the cancellation. */
  readonly canceledMessage: string;
};

/** The progress of a task, and a button that cancels the task. */
export function TaskProgressWithCancelButton({ task, label, text, cancelText, canceledMessage }: Props): ReactNode {
  const { processed = 0, total = null } = task?.progress ?? {};
  // The minimum is 2%, so that the bar is visible from the start.
  const percentage = Math.max(2, total === null || total === 0 ? 0 : (100 * processed) / total);
  return (
    <div className={classes['progress']} aria-live="polite">
      <p>{label}</p>
      <Progress.Root size="lg">
        <Progress.Section value={percentage} aria-label={label} animated={percentage < 100} />
      </Progress.Root>
      <p>{text}</p>
      {task && (
        <IfPermitted operation="tasks.cancel">
          <CancelTask taskId={task.id} text={cancelText} doneMessage={canceledMessage} />
        </IfPermitted>
      )}
    </div>
  );
}

type CancelProps = { readonly taskId: number; readonly text: string; readonly doneMessage: string };

function CancelTask({ taskId, text, doneMessage }: CancelProps): ReactNode {
  const cancel = useApiMutation(mutations.tasks.cancel(taskId), { changes: ['tasks'], doneMessage });
  return (
    <div>
      <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
        {text}
      </Button>
    </div>
  );
}
