import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Shot } from './measure.ts';

const run = promisify(execFile);

/** Whether Debian's `wrk` is there: it makes the same load for a tenth of the processor time, which is then left to what is measured. */
export const hasWrk = (): Promise<boolean> =>
  run('wrk', ['--version']).then(
    () => true,
    // it says its version and fails
    ({ code }: { code: unknown }) => code === 1,
  );

const summary = z.object({ requests: z.number(), seconds: z.number(), p50: z.number(), p99: z.number(), failed: z.number() });

/** A script that sends one request after the other, and none twice as long as they suffice. */
const script = (shots: readonly string[]): string => `
local shots = { ${shots.join(',\n')} }
local at = 0
request = function() at = at % #shots + 1 return shots[at] end
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format('{"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"failed":%d}\\n', summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end`;

/** A string of Lua, whose escapes are decimal. */
const quoted = (text: string): string =>
  `"${text.replaceAll(/[\\"\r\n]/g, (character) => `\\${String(character.charCodeAt(0)).padStart(3, '0')}`)}"`;

function bytesOf({ method = 'GET', path, headers = {}, body = '' }: Shot, host: string): string {
  const named = { host, ...headers, ...(method === 'POST' && { 'content-length': String(Buffer.byteLength(body)) }) };
  return [`${method} ${path} HTTP/1.1`, ...Object.entries(named).map(([name, value]) => `${name}: ${value}`), '', body].join('\r\n');
}

/** As many requests as are answered, on one thread. */
export async function fireWrk(
  origin: string,
  shots: readonly Shot[],
  connections: number,
  seconds: number,
): Promise<z.infer<typeof summary>> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-wrk-'));
  try {
    const file = join(directory, 'shots.lua');
    await writeFile(file, script(shots.map((shot) => quoted(bytesOf(shot, new URL(origin).host)))));
    const { stdout } = await run('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', file, origin]);
    return summary.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  } finally {
    await rm(directory, { recursive: true });
  }
}
