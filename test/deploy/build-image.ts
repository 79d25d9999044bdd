import { execFile } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { contextFilter, readDockerfile, buildStages, type BuildStage } from './dockerfile.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const node = '/usr/local/bin/node';

/** The files that the final build stage creates in `directory`, and the image settings. */
export type Image = {
  readonly directory: string;
  readonly workdir: string;
  readonly user: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly entrypoint: string;
  readonly command: string;
  readonly healthcheck: string;
};

/**
 * Executes the Dockerfile's instructions in a directory, with the same files, paths, commands and order as an image build. Files from the
 * base images are missing, except Node: the build copies this process's executable.
 */
export async function buildImage(dockerfile: string, buildDirectory: string): Promise<Image> {
  const files = await contextFiles();
  const stages = buildStages(await readDockerfile(dockerfile));
  let image: Image | undefined;
  for (const stage of stages) image = await buildStage(stage, buildDirectory, files);
  if (!image) throw new Error(`${dockerfile} has no build stage`);
  return image;
}

/** Returns all tracked files and all untracked files that are not ignored, except files that .dockerignore excludes. */
async function contextFiles(): Promise<readonly string[]> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const isSent = contextFilter(await readFile(join(root, '.dockerignore'), 'utf8'));
  return stdout.split('\0').filter((file) => file !== '' && isSent(file));
}

async function buildStage({ name, instructions }: BuildStage, buildDirectory: string, files: readonly string[]): Promise<Image> {
  const directory = join(buildDirectory, name === '' ? 'image' : name);
  await copyNode(join(directory, node));
  let workdir = '/';
  const settings: Record<string, string> = {};
  const environment: Record<string, string> = {};
  for (const instruction of instructions) {
    const { text } = instruction;
    switch (instruction.name) {
      case 'WORKDIR':
        workdir = resolve(workdir, text);
        await mkdir(join(directory, workdir), { recursive: true });
        break;
      case 'COPY':
        await copy(text, { buildDirectory, directory, workdir, files });
        break;
      case 'RUN':
        // use the npm cache
        await run('sh', ['-c', text], {
          cwd: join(directory, workdir),
          maxBuffer: 2 ** 24,
          env: { ...process.env, npm_config_prefer_offline: 'true' },
        });
        break;
      case 'ENV':
        for (const [, key = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) environment[key] = value;
        break;
      default:
        settings[instruction.name] = text;
    }
  }
  const { USER: user = '', ENTRYPOINT: entrypoint = '', CMD: command = '', HEALTHCHECK: healthcheck = '' } = settings;
  return { directory, workdir, user, environment, entrypoint, command, healthcheck };
}

type CopyContext = {
  readonly buildDirectory: string;
  readonly directory: string;
  readonly workdir: string;
  readonly files: readonly string[];
};

async function copy(text: string, { buildDirectory, directory, workdir, files }: CopyContext): Promise<void> {
  const [, stageName, paths = ''] = /^(?:--from=(\S+) )?(.+)$/.exec(text) ?? [];
  const [target = '', ...sources] = paths.split(' ').toReversed();
  const to = join(directory, resolve(workdir, target));
  for (const source of sources) {
    const isInto = target.endsWith('/') || target === '.';
    if (stageName !== undefined) {
      await cp(join(buildDirectory, stageName, source), to, { recursive: true, verbatimSymlinks: true });
      continue;
    }
    const matchingFiles = files.filter((file) => file === source || file.startsWith(`${source}/`));
    if (matchingFiles.length === 0) throw new Error(`COPY ${source}: no such file in the build context`);
    for (const file of matchingFiles) {
      // for a folder, copy its contents; for a file, keep its name
      const within = file === source ? (isInto ? file.slice(file.lastIndexOf('/') + 1) : '') : file.slice(source.length + 1);
      await mkdir(dirname(join(to, within)), { recursive: true });
      await copyFile(join(root, file), join(to, within));
    }
  }
}

async function copyNode(to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(process.execPath, to);
  await chmod(to, 0o755);
}

/** Returns the image's user and group if this process may switch to them. */
export function imageUser({ user }: Pick<Image, 'user'>): { uid?: number; gid?: number } {
  const [uid, gid] = user.split(':').map(Number);
  return process.getuid?.() === 0 && uid !== undefined && gid !== undefined ? { uid, gid } : {};
}
