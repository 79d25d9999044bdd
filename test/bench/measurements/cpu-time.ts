import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ticksPerSecond = 100;

/** proc_pid_stat(5): fields 14 and 15 count ticks, and 16 and 17 those of children that have ended; the name in field 2 may contain blanks. */
async function secondsOf(pid: number, withEnded: boolean): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''); // it has ended meanwhile
  const fields = stat.replace(/^.*\) /, '').split(' ');
  const counted = fields.slice(11, withEnded ? 15 : 13).map(Number);
  return counted.reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond;
}

/** Seconds of processor time that a process has used so far, in its own code and in the system's. */
export const processorSeconds = (pid: number): Promise<number> => secondsOf(pid, false);

/** Of this process and of all programs that it waited for. */
export const ownProcessorSeconds = (): Promise<number> => secondsOf(process.pid, true);

/** Of all processes of a PostgreSQL: its first one, those that came of it, and those of them that have ended. */
export async function postgresqlSeconds(data: string): Promise<number> {
  const [first = ''] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n', 1);
  const children = (await readFile(`/proc/${first}/task/${first}/children`, 'utf8')).trim().split(' ');
  const seconds = await Promise.all([secondsOf(Number(first), true), ...children.map((pid) => secondsOf(Number(pid), false))]);
  return seconds.reduce((sum, each) => sum + each, 0);
}
