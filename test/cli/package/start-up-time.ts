/**
 * `npm run start-up -w cli` measures the CPU time of the published program relative to a Node.js process that does nothing. The commands
 * run in turn, so that other load on the machine affects all of them equally. Compares the medians.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportProofKey, newProofKey } from '@mandate/client-sdk/authorization';
import { startStubServer } from '../../sdk/stub-server.ts';

const rounds = Number(process.argv[2] ?? 15);

const order = { id: 42, status: 'paid', total: 4250, currency: 'EUR', created_at: '2026-11-20T12:00:00.000Z', items: [] };
const server = await startStubServer(() => ({ body: order }));
const home = await mkdtemp(join(tmpdir(), 'mandate-start-up-'));
// Copies the published files without the sources, so that the bundle is measured.
for (const part of ['bin', 'dist', 'package.json'])
  await cp(join(import.meta.dirname, '../../../cli', part), join(home, part), { recursive: true });
const program = join(home, 'bin/mandate.js');
// On exit, each process reports its CPU time on file descriptor 3.
const probe = join(home, 'probe.cjs');
await writeFile(
  probe,
  `process.on('exit', () => { const { user, system } = process.cpuUsage(); require('fs').writeSync(3, String(user + system)); });`,
);
const credential = {
  apiUrl: server.url,
  clientId: 'mandate-cli',
  accessToken: 'x',
  expiresAt: Date.now() + 3_600_000,
  scopes: ['orders.read'],
  bound: true,
};
await writeFile(join(home, 'credentials.json'), JSON.stringify({ default: credential }));
await writeFile(join(home, 'proof-keys.json'), JSON.stringify({ default: await exportProofKey(await newProofKey({ extractable: true })) }));

const env = { MANDATE_CONFIG_DIR: home, MANDATE_API_URL: server.url, NODE_OPTIONS: `--require=${probe}` };

/** Runs a command and returns its CPU time in milliseconds. */
async function measureCpuMs(argv: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
  let output = '';
  child.stdout?.resume();
  child.stdio[3]?.on('data', (chunk) => (output += String(chunk)));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`${argv.join(' ')} exited with code ${child.exitCode}`);
  return Number(output) / 1000;
}

const runs: readonly { readonly name: string; readonly argv: readonly string[]; readonly atMost?: number }[] = [
  { name: 'node -e 0', argv: ['-e', '0'] },
  { name: 'mandate --version', argv: [program, '--version'], atMost: 1.6 },
  { name: 'mandate __complete', argv: [program, '__complete', 'zsh', 'orders', 'l'], atMost: 2 },
  { name: 'mandate orders --help', argv: [program, 'orders', '--help'] },
  { name: 'mandate orders get 42', argv: [program, 'orders', 'get', '42'], atMost: 4 },
];
const measurements = runs.map((): number[] => []);
for (let round = 0; round < rounds; round++)
  for (const [index, { argv }] of runs.entries()) measurements[index]?.push(await measureCpuMs(argv));
const medians = measurements.map((all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0);
const [base = 1] = medians;
for (const [index, { name, atMost }] of runs.entries()) {
  const factor = (medians[index] ?? 0) / base;
  const verdict = atMost === undefined ? '' : `at most ${atMost} x: ${factor <= atMost ? 'yes' : 'NO'}`;
  process.stdout.write(
    `${name.padEnd(24)}${(medians[index] ?? 0).toFixed(1).padStart(7)} ms ${factor.toFixed(2).padStart(6)} x  ${verdict}\n`,
  );
  if (atMost !== undefined && factor > atMost) process.exitCode = 1;
}
await server[Symbol.asyncDispose]();
await rm(home, { recursive: true });
