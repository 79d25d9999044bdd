import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { serializeRequest, requestParts, type Traffic, type ValueLocation } from './traffic.ts';

const run = promisify(execFile);

/** Whether Debian's `wrk` is installed. `wrk` needs a tenth of the CPU time that the Node load generator needs. */
export const isWrkInstalled = (): Promise<boolean> =>
  run('wrk', ['--version']).then(
    () => true,
    // `wrk --version` prints the version but exits with status 1
    ({ code }: { code: unknown }) => code === 1,
  );

const summary = z.object({ finished: z.number(), failed: z.number(), seconds: z.number(), p50Ms: z.number(), p99Ms: z.number() });

/** Number of distinct requests generated for each second of the run, unless the traffic specifies the number. */
const maxDistinctPerSecond = 5_000;

/** Repeatedly sends the requests in turn. */
const plainScript = (requests: readonly string[]): string => `
local shots = { ${requests.join(',\n')} }
local at = 0
request = function() at = at % #shots + 1 return shots[at] end
done = function(summary, latency) report(summary, latency, summary.requests - summary.errors.status, 0) end`;

/** Quotes a string for Lua, which uses decimal escapes. */
const luaString = (text: string): string =>
  `"${text.replaceAll(/[\\"\r\n]/g, (character) => `\\${String(character.charCodeAt(0)).padStart(3, '0')}`)}"`;

/**
 * Sends follow-up requests, which use values from responses, before new requests. However, if every response leads to a follow-up request,
 * all first requests are sent before any follow-up request, so that requests from all customers are sent. A redirect without the expected
 * value counts as `lost`.
 */
function trafficScript({ first, distinct, neverRepeatedUpTo, next }: Traffic, seconds: number, host: string): string {
  const count = distinct ?? Math.ceil(seconds * (neverRepeatedUpTo ?? maxDistinctPerSecond));
  const requests = Array.from({ length: count }, () => luaString(serializeRequest(first(), host)));
  if (!next) return plainScript(requests);
  return `
local shots = { ${requests.join(',\n')} }
local at, threads = 0, {}
local queue, head, tail = {}, 1, 0
local templates = { ${followUpTemplates(next, host).join(',\n')} }
finished, lost = 0, 0
setup = function(thread) table.insert(threads, thread) end
local function next_follow_up()
  local follow_up = queue[head]
  if follow_up then queue[head] = nil head = head + 1 end
  return follow_up
end
request = function()
  local follow_up = not (${String(!next.countsAsOne)} and at < #shots) and next_follow_up()
  if not follow_up then at = at % #shots + 1 return shots[at] end
  local template = templates[follow_up.customer]
  local body = table.concat(template.body, follow_up.value)
  return table.concat(template.head, follow_up.value) .. 'content-length: ' .. #body .. '\\r\\n\\r\\n' .. body
end
local function between(text, after, until_text)
  local _, from = string.find(text, after, 1, true)
  if not from then return nil end
  local to = string.find(text, until_text, from + 1, true) or #text + 1
  return string.sub(text, from + 1, to - 1)
end
response = function(status, headers, body)
  local location = headers['Location'] or headers['location'] or ''
  local value = ${extractionScript(next.valueLocation)}
  local customer = ${next.customers ? extractionScript(next.customers.location) : "''"}
  local leads_to_request = value and customer and templates[customer]
  if status >= 200 and status < 300 and not (leads_to_request and ${String(next.countsAsOne)}) then finished = finished + 1 end
  if leads_to_request then
    tail = tail + 1
    queue[tail] = { value = value, customer = customer }
  elseif status >= 300 and status < 400 then
    lost = lost + 1
  end
end
done = function(summary, latency) report(summary, latency, threads[1]:get('finished'), threads[1]:get('lost')) end`;
}

const extractionScript = ({ in: part, after, until }: ValueLocation): string =>
  `between(${part}, ${luaString(after)}, ${luaString(until)})`;

/** Returns the entries of a Lua table: the follow-up requests of each customer, split at the position of the value. */
function followUpTemplates({ createRequest, customers }: NonNullable<Traffic['next']>, host: string): string[] {
  const mark = '\u0000';
  const split = (text: string): string => `{ ${text.split(mark).map(luaString).join(', ')} }`;
  return (customers?.ids ?? ['']).map((customer) => {
    const { head, body } = requestParts(createRequest(mark, customer), host);
    return `[${luaString(customer)}] = { head = ${split(head)}, body = ${split(body)} }`;
  });
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
 * Runs wrk on one thread: at maximum throughput, or at a constant rate. Percentiles describe single requests, even if two requests count as
 * one. The percentiles include wrk's correction for requests that a busy connection delayed.
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
