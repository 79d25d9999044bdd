import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { z } from 'zod';
import { createEmptyProject, measureInstalledSize } from '../package/pack-and-install.ts';
import type { ComparedClient } from './compared-clients.ts';

const run = promisify(execFile);

export type ClientMeasurement = {
  readonly name: string;
  /** Size of the program when bundled for a browser and compressed, in bytes. */
  readonly gzippedBytes: number;
  /** CPU time of the program in Node.js, minus that of an empty program, in milliseconds. */
  readonly startUpMs: number;
  readonly installedMb: number;
  readonly packages: number;
};

/** Installs a client in an empty folder, and measures the size and the start-up time of a program that uses it. */
export async function measureClient({ name, install, program }: ComparedClient, folder: string, runs: number): Promise<ClientMeasurement> {
  await createEmptyProject(folder, [install]);
  const [file, emptyFile] = [join(folder, 'program.js'), join(folder, 'empty.js')];
  await writeFile(file, program);
  await writeFile(emptyFile, '');
  const bundle = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  });
  // The two programs run in turn, so that other load on the machine affects both programs equally.
  const times: [program: number, empty: number][] = [];
  for (let n = 0; n < runs; n += 1) times.push([await measureCpuTime(file, folder), await measureCpuTime(emptyFile, folder)]);
  return {
    name,
    gzippedBytes: gzipSync(bundle.outputFiles[0]?.text ?? '').length,
    startUpMs: median(times.map(([time]) => time)) - median(times.map(([, empty]) => empty)),
    installedMb: await measureInstalledSize(folder),
    packages: await countInstalledPackages(folder),
  };
}

/** Returns the CPU time that a program reports when it exits, in milliseconds. */
async function measureCpuTime(file: string, cwd: string): Promise<number> {
  const report = `process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000)); });`;
  const probe = `data:text/javascript,${encodeURIComponent(report)}`;
  const { stdout } = await run(process.execPath, [`--import=${probe}`, file], { cwd });
  return Number(stdout);
}

const median = (values: readonly number[]): number =>
  values.toSorted((first, second) => first - second)[Math.floor(values.length / 2)] ?? 0;

const lockfileSchema = z.object({ packages: z.record(z.unknown()) });

/** Counts the packages in the lockfile, excluding the project itself. */
async function countInstalledPackages(folder: string): Promise<number> {
  const { packages } = lockfileSchema.parse(JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')));
  return Object.keys(packages).filter((path) => path !== '').length;
}
