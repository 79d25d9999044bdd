import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { bytesOf, partsOf, type Traffic } from './traffic.ts';

const run = promisify(execFile);

/** Whether Debian's `wrk` is there: it makes the same load for a tenth of the processor time, which is then left to what is measured. */
export const hasWrk = (): Promise<boolean> =>
  run('wrk', ['--version']).then(
    () => true,
    // it says its version and fails
    ({ code }: { code: unknown }) => code === 1,
  );

const summary = z.object({ finished: z.number(), failed: z.number(), seconds: z.number() });

/** Requests a second for which there are different ones. */
const perSecondMax = 5_000;

/** Sends one request after the other, and none twice as long as they suffice. */
const plainScript = (shots: readonly string[]): string => `
local shots = { ${shots.join(',\n')} }
local at = 0
request = function() at = at % #shots + 1 return shots[at] end
done = function(summary) report(summary, summary.requests - summary.errors.status, 0) end`;

/** A string of Lua, whose escapes are decimal. */
const quoted = (text: string): string =>
  `"${text.replaceAll(/[\\"\r\n]/g, (character) => `\\${String(character.charCodeAt(0)).padStart(3, '0')}`)}"`;

/** What an answer leads to comes before what is new. An answer that leads nowhere although it is a redirect is `lost`. */
function script({ first, distinct, next }: Traffic, seconds: number, host: string): string {
  const shots = Array.from({ length: distinct ?? seconds * perSecondMax }, () => quoted(bytesOf(first(), host)));
  if (!next) return plainScript(shots);
  const mark = '\u0000';
  const { head, body } = partsOf(next.shot(mark), host);
  const [before = '', after = ''] = body.split(mark);
  return `
local shots = { ${shots.join(',\n')} }
local at, ready, threads = 0, {}, {}
local head, before, after = ${[head, before, after].map((text) => quoted(text)).join(', ')}
finished, lost = 0, 0
setup = function(thread) table.insert(threads, thread) end
request = function()
  local value = table.remove(ready)
  if not value then at = at % #shots + 1 return shots[at] end
  return head .. 'content-length: ' .. (#before + #value + #after) .. '\\r\\n\\r\\n' .. before .. value .. after
end
response = function(status, headers, body)
  if status >= 200 and status < 300 then finished = finished + 1 end
  local text = ${next.found.in === 'body' ? 'body' : `headers['Location'] or headers['location'] or ''`}
  local _, from = string.find(text, ${quoted(next.found.after)}, 1, true)
  if from then
    local to = string.find(text, ${quoted(next.found.until)}, from + 1, true) or #text + 1
    table.insert(ready, string.sub(text, from + 1, to - 1))
  elseif status >= 300 and status < 400 then
    lost = lost + 1
  end
end
done = function(summary) report(summary, threads[1]:get('finished'), threads[1]:get('lost')) end`;
}

const reporting = `
local function report(summary, finished, lost)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout + lost
  io.write(string.format('{"finished":%d,"failed":%d,"seconds":%f}\\n', finished, failed, summary.duration / 1e6))
end`;

/** As much as is answered, on one thread. */
export async function fireWrk(origin: string, traffic: Traffic, connections: number, seconds: number): Promise<z.infer<typeof summary>> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-wrk-'));
  try {
    const file = join(directory, 'traffic.lua');
    await writeFile(file, `${reporting}\n${script(traffic, seconds, new URL(origin).host)}`);
    const { stdout } = await run('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', file, origin]);
    return summary.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  } finally {
    await rm(directory, { recursive: true });
  }
}
