import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { contract, getRouteMetadata, listRoutes } from '@mandate/contract';
import { handwrittenCommandNamesByOperation } from '../../../cli/contract-commands/handwritten-command-names.ts';
import { commandSpecs } from '../../../cli/contract-commands/commands.gen.ts';
import { renderCommandSpecsSource } from '../../../cli/build/generate-command-specs.ts';
import { formatSource } from '../../support/format-source.ts';
import { runInProcess } from '../run-command-line.ts';

type Leaf = { readonly command: string; readonly flags: readonly string[] };
const leaves: Leaf[] = JSON.parse((await runInProcess(['commands', '--json'])).stdout);
const words = ({ command }: Leaf): string[] => command.split(' ');

describe('the generated commands', () => {
  test('are up to date with the contract', async () => {
    expect(await readFile(new URL('../../../cli/contract-commands/commands.gen.ts', import.meta.url), 'utf8')).toBe(
      await formatSource(await renderCommandSpecsSource()),
    );
  });

  test('include one command for every public route of the contract', () => {
    const publicRoutes = listRoutes(contract).filter((route) => !getRouteMetadata(route).internal);
    const operationIds = publicRoutes.map((route) => getRouteMetadata(route).operationId);
    expect(commandSpecs.map((spec) => spec.operationId).toSorted()).toEqual(operationIds.toSorted());
    const derived = commandSpecs.map(
      ({ operationId, group, name }) => handwrittenCommandNamesByOperation[operationId] ?? `${group} ${name}`,
    );
    expect(leaves.map(({ command }) => command)).toEqual(expect.arrayContaining(derived));
  });

  test('include the handwritten commands', () => {
    expect(leaves.map(({ command }) => command)).toEqual(
      expect.arrayContaining(['login', 'logout', 'whoami', 'api', 'commands', 'help', 'orders pay', 'orders watch', 'tasks wait']),
    );
  });
});

describe.each(leaves)('mandate $command', (leaf) => {
  test('prints its help to standard output', async () => {
    const { exitCode, stdout, stderr } = await runInProcess([...words(leaf), '--help']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain(`Usage: mandate ${leaf.command}`);
  });

  test('rejects an unknown flag and prints nothing to standard output', async () => {
    const { exitCode, stdout, stderr } = await runInProcess([...words(leaf), '--no-such-flag']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain("error: unknown option '--no-such-flag'");
  });
});

describe('mandate', () => {
  test.each([[[]], [['orders']], [['help']], [['help', 'orders', 'create']], [['--help']]])(
    '%j prints help and exits with code 0',
    async (argv) => {
      const { exitCode, stdout, stderr } = await runInProcess(argv);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: mandate /);
    },
  );

  test('--version prints the version', async () => {
    expect(await runInProcess(['--version'])).toEqual({ exitCode: 0, stdout: '0.1.0\n', stderr: '' });
  });

  test.each([
    [['nonsense']],
    [['orders', 'nonsense']],
    [['help', 'nonsense']],
    [['orders', 'get']],
    [['orders', 'get', '1', '2']],
    [['--color', 'blue', 'whoami']],
    [['--timeout', 'soon', 'whoami']],
    [['--profile', '../x', 'whoami']],
  ])('rejects %j with exit code 2 and an error message', async (argv) => {
    const { exitCode, stdout, stderr } = await runInProcess(argv);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: /);
  });

  test('a global flag does not consume the value of another flag', async () => {
    const { stdout } = await runInProcess(['products', 'list', '--sort', '-price', '--print-request']);
    expect(JSON.parse(stdout)).toMatchObject({ query: { sort: '-price' } });
  });
});
