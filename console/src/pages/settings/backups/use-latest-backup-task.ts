import type { Task } from '@mandate/client-sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { keyOf, queries } from '../../../api/client.ts';
import { usePermissions } from '../../../api/permissions.tsx';

const pollIntervalMs = 1_000;

export const isTaskUnfinished = (task: Task | undefined): boolean => task !== undefined && task.finished_at === null;

/** Returns the latest task of the signed-in user that creates or checks a backup, and polls the task until it has finished. */
export function useLatestBackupTask(): Task | undefined {
  const isPermitted = usePermissions().can('tasks.list');
  const queryClient = useQueryClient();
  const { data } = useQuery({
    ...queries.tasks.list({ type: ['backup', 'backup_check'], limit: 1 }),
    enabled: isPermitted,
    refetchInterval: ({ state }) => (isTaskUnfinished(state.data?.data[0]) ? pollIntervalMs : false),
  });
  const task = data?.data[0];
  const finished = task?.finished_at ?? undefined;
  useEffect(() => {
    if (finished !== undefined) void queryClient.invalidateQueries({ queryKey: keyOf('backups') });
  }, [finished, queryClient]);
  return task;
}
