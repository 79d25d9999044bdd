import type { ProductImportsCreateQuery, Task } from '@mandate/client-sdk';
import { apiClient } from '../../../api/client.ts';

/** A line of the imported file that was rejected or needs attention. */
export type ImportIssue = { readonly line: number; readonly field?: string; readonly detail: string };

export type ImportOutcome = { readonly task: Task; readonly issues: readonly ImportIssue[] };

/** Maximum number of issues on the page; all issues are in the result file. */
const maxIssues = 100;

const pollIntervalMs = 500;

/** Imports a file, and reports the task after every poll. */
export async function runProductImport(
  file: File,
  query: ProductImportsCreateQuery,
  onProgress: (task: Task) => void,
): Promise<ImportOutcome> {
  const { id } = await apiClient.productImports.create(file, query, {
    contentType: /\.(nd)?jsonl?$/.test(file.name) ? 'application/x-ndjson' : 'text/csv',
  });
  const task = await apiClient.tasks.wait(id, { onProgress, intervalMs: pollIntervalMs });
  return { task, issues: task.result && task.result.rows > 0 ? await readIssues(task.id) : [] };
}

/** Reads the first lines of the result file, which contains one JSON object per line. */
async function readIssues(taskId: number): Promise<readonly ImportIssue[]> {
  const { stream } = await apiClient.tasks.result(taskId);
  const issues: ImportIssue[] = [];
  let rest = '';
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  while (issues.length < maxIssues) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    issues.push(...lines.map(parseIssue));
  }
  await reader.cancel();
  return issues.slice(0, maxIssues);
}

function parseIssue(line: string): ImportIssue {
  const issue: unknown = JSON.parse(line);
  const values = new Map<string, unknown>(Object.entries(issue ?? {}));
  const field = values.get('field');
  return { line: Number(values.get('line')), ...(typeof field === 'string' && { field }), detail: String(values.get('detail')) };
}
