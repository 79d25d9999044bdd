import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { serializeRequest, requestParts, type Traffic } from './traffic.ts';

const run = promisify(execFile);

/** Whether Debian's `wrk` is installed. `wrk` needs a tenth of the CPU time that the Node load generator needs. */
export const isWrkInstalled = (): Promise<boolean> =>
  run('wrk', ['--version']).then(
    () => true,
    // `wrk --version` prints the version but exits with status 1
    ({ code }: { code: unknown }) => code === 1,
  );

const summary = z.object({ finished: z.number(), failed: z.number(), seconds: z.number(), p50Ms: z.number(), p99Ms: z.number() });

/** Number of distinct requests that are generated per second of the run, unless `distinct` is set. */
const maxDistinctPerSecond = 5_000;

/** Sends the requests in turn, repeatedly. */
const plainScript = (requests: readonly string[]): string => `
local shots = { ${requests.join(',\n')} }
local at = 0
request = function() at = at % #shots + 1 return shots[at] end
done = function(summary, latency) report(summary, latency, summary.requests - summary.errors.status, 0) end`;

/** Quotes a string for Lua, which uses decimal escapes. */
const luaString = (text: string): string =>
  `"${text.replaceAll(/[\\"\r\n]/g, (character) => `\\${String(character.charCodeAt(0)).padStart(3, '0')}`)}"`;

/**
 * Sends follow-up requests, which use values from responses, before new requests. A redirect without the expected value counts as `lost`.
 */
function trafficScript({ first, distinct, next }: Traffic, seconds: number, host: string): string {
  const requests = Array.from({ length: distinct ?? seconds * maxDistinctPerSecond }, () => luaString(serializeRequest(first(), host)));
  if (!next) return plainScript(requests);
  const mark = '\u0000';
  const { head, body } = requestParts(next.createRequest(mark), host);
  const [before = '', after = ''] = body.split(mark);
  return `
local shots = { ${requests.join(',\n')} }
local at, ready, threads = 0, {}, {}
local head, before, after = ${[head, before, after].map((text) => luaString(text)).join(', ')}
finished, lost = 0, 0
setup = function(thread) table.insert(threads, thread) end
request = function()
  local value = table.remove(ready)
  if not value then at = at % #shots + 1 return shots[at] end
  return head .. 'content-length: ' .. (#before + #value + #after) .. '\\r\\n\\r\\n' .. before .. value .. after
end
response = function(status, headers, body)
  if status >= 200 and status < 300 then finished = finished + 1 end
  local text = ${next.valueLocation.in === 'body' ? 'body' : `headers['Location'] or headers['location'] or ''`}
  local _, from = string.find(text, ${luaString(next.valueLocation.after)}, 1, true)
  if from then
    local to = string.find(text, ${luaString(next.valueLocation.until)}, from + 1, true) or #text + 1
    table.insert(ready, string.sub(text, from + 1, to - 1))
  elseif status >= 300 and status < 400 then
    lost = lost + 1
  end
end
done = function(summary, latency) report(summary, latency, threads[1]:get('finished'), threads[1]:get('lost')) end`;
}

const reportFunctionScript = `
local function report(summary, latency, finished, lost)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout + lost
  local p50, p99 = latency:percentile(50) / 1e3, latency:percentile(99) / 1e3
  local figures = '{"finished":%d,"failed":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f}\\n'
  io.write(string.format(figures, finished, failed, summary.duration / 1e6, p50, p99))
end`;

/** Delays each request until it is due, with the millisecond precision of wrk's clock. */
const paceScript = (perSecond: number): string => `
local ffi = require('ffi')
ffi.cdef[[ typedef struct { long seconds, nanoseconds; } moment; int clock_gettime(int clock, moment *now); ]]
local monotonic, moment, due = 1, ffi.new('moment'), nil
delay = function()
  ffi.C.clock_gettime(monotonic, moment)
  local now = tonumber(moment.seconds) * 1e3 + tonumber(moment.nanoseconds) / 1e6
  due = (due or now) + ${1000 / perSecond}
  return math.max(0, math.floor(due - now + 0.5))
end`;

/**
 * Runs wrk on one thread: at maximum throughput, or at a constant rate. Percentiles apply to single requests, even if two count as one,
 * and include wrk's correction for requests that were delayed by a busy connection.
 */
export async function runWrk(
  origin: string,
  traffic: Traffic,
  connections: number,
  seconds: number,
  perSecond?: number,
): Promise<z.infer<typeof summary>> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-wrk-'));
  try {
    const file = join(directory, 'traffic.lua');
    const each = traffic.next?.countsAsOne ? 2 : 1;
    const parts = [
      reportFunctionScript,
      perSecond === undefined ? '' : paceScript(perSecond * each),
      trafficScript(traffic, seconds, new URL(origin).host),
    ];
    await writeFile(file, parts.join('\n'));
    const { stdout } = await run('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', file, origin]);
    return summary.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  } finally {
    await rm(directory, { recursive: true });
  }
}
