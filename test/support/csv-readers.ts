import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'csv-parse/sync';

export type CsvReader = { readonly name: string; readonly isInstalled: boolean; read(file: string): Promise<string[][]> };

/** Debian's system Python, regardless of other installed versions. */
const python = '/usr/bin/python3';
const pythonProgram = `
import csv, io, json, sys
text = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8', newline='')
csv.field_size_limit(10_000_000)
json.dump(list(csv.reader(text, strict=True)), sys.stdout)
`;

function run(command: string, args: readonly string[], input?: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 100_000_000, timeout: 120_000 });
  if (status !== 0) throw new Error(`${command} exited with ${status}: ${stderr}`, { cause: error });
  return stdout;
}

/** Opens CSV text as a spreadsheet in LibreOffice, recalculates the sheet and returns the displayed cell values. */
async function readWithLibreOffice(file: string): Promise<string[][]> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-libreoffice-'));
  try {
    await writeFile(join(directory, 'in.csv'), file);
    run('soffice', [
      `-env:UserInstallation=${pathToFileURL(join(directory, 'profile')).href}`,
      '--headless',
      '--infilter=CSV:44,34,76,1',
      '--convert-to',
      'out.csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true',
      '--outdir',
      directory,
      join(directory, 'in.csv'),
    ]);
    return parse(await readFile(join(directory, 'in.out.csv'), 'utf8'), { relax_column_count: true });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const canRun = (command: string, args: readonly string[]): boolean => spawnSync(command, args).status === 0;

export const csvReaders: readonly CsvReader[] = [
  { name: 'csv-parse', isInstalled: true, read: async (file) => parse(file, { relax_column_count: true }) },
  {
    name: "Python's csv",
    isInstalled: canRun(python, ['-c', 'import csv']),
    read: async (file) => JSON.parse(run(python, ['-c', pythonProgram], file)),
  },
  { name: 'LibreOffice', isInstalled: canRun('sh', ['-c', 'command -v soffice']), read: readWithLibreOffice },
];
