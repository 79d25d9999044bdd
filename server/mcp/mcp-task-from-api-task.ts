import type { Task } from '@mandate/contract';
import { createErrorToolResult, toolResultFromResponse, type McpTool, type ToolResponse, type ToolResult } from '@mandate/contract/tools';

/** Interval at which a client should poll the status of a task, in milliseconds. */
const pollIntervalMs = 2_000;

type McpTaskStatus = 'working' | 'completed' | 'cancelled';

/** A task of the extension `io.modelcontextprotocol/tasks` (SEP-2663). */
export type McpTask = {
  readonly taskId: string;
  readonly status: McpTaskStatus;
  readonly statusMessage: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Time from `createdAt` until the result is deleted, in milliseconds; `null` while this time is unknown. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
};

/** The extension reserves the status `failed` for JSON-RPC errors. A failed task is a completed tool call whose result is an error. */
const mcpStatuses: Readonly<Record<Task['status'], McpTaskStatus>> = {
  queued: 'working',
  running: 'working',
  succeeded: 'completed',
  failed: 'completed',
  canceled: 'cancelled',
};

/** Converts an API task to a task of the MCP extension. */
export const mcpTaskFromApiTask = (task: Task): McpTask => ({
  taskId: String(task.id),
  status: mcpStatuses[task.status],
  statusMessage: describeTaskStatus(task),
  createdAt: task.created_at,
  lastUpdatedAt: task.finished_at ?? task.started_at ?? task.created_at,
  ttlMs: task.result && Date.parse(task.result.expires_at) - Date.parse(task.created_at),
  pollIntervalMs,
});

function describeTaskStatus({ status, progress: { processed, total }, error }: Task): string {
  if (status === 'queued') return 'The task has not started yet.';
  if (status === 'failed') return error?.detail ?? 'The task failed.';
  const rows = total === null ? `${processed} rows` : `${processed} of ${total} rows`;
  return status === 'canceled' ? `Canceled after ${rows}.` : `${rows} processed.`;
}

/**
 * Returns the final result of the tool call that started the task.
 * @param tool the tool that reads a task
 * @param response the response of this tool
 */
export const toolResultFromTask = (tool: McpTool, response: ToolResponse, { status, error }: Task): ToolResult =>
  status === 'failed'
    ? createErrorToolResult(`${error?.detail ?? 'The task failed.'} (${error?.code ?? 'unknown'})`)
    : toolResultFromResponse(tool, response);
