import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ticksPerSecond = 100;

/**
 * Returns the CPU time in seconds, from the clock ticks of the process (fields 14 and 15) and of its exited children (16 and 17) in
 * proc_pid_stat(5). The name in field 2 may contain spaces.
 */
async function readCpuSeconds(pid: number, withExitedChildren: boolean): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''); // the process has exited
  const fields = stat.replace(/^.*\) /, '').split(' ');
  const counted = fields.slice(11, withExitedChildren ? 15 : 13).map(Number);
  return counted.reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond;
}

/** Returns the CPU time of a process and its running and exited children, in seconds. */
export async function processTreeCpuSeconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []); // the process has exited
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')));
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  const seconds = await Promise.all([readCpuSeconds(pid, true), ...children.map((child) => readCpuSeconds(child, false))]);
  return seconds.reduce((sum, each) => sum + each, 0);
}

/** Returns the CPU time of this process and all exited child processes, in seconds. */
export const currentProcessCpuSeconds = (): Promise<number> => readCpuSeconds(process.pid, true);

/** Returns the CPU time of all PostgreSQL server processes: the postmaster and its running and exited children. */
export async function postgresqlCpuSeconds(data: string): Promise<number> {
  const [first = ''] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n', 1);
  const children = (await readFile(`/proc/${first}/task/${first}/children`, 'utf8')).trim().split(' ');
  const seconds = await Promise.all([readCpuSeconds(Number(first), true), ...children.map((pid) => readCpuSeconds(Number(pid), false))]);
  return seconds.reduce((sum, each) => sum + each, 0);
}
