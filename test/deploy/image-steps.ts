import { execFile } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { contextFilter, readDockerfile, stagesOf, type Stage } from './dockerfile.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const node = '/usr/local/bin/node';

/** What the image would have: the files of its last stage below `directory`, and how they are run. */
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
 * Does in a directory what the Dockerfile does in an image: the same files at the same places, the same commands, in the same order. What the
 * images it begins with contain is missing, except for Node: this process's own.
 */
export async function takeImageSteps(dockerfile: string, place: string): Promise<Image> {
  const files = await contextFiles();
  const stages = stagesOf(await readDockerfile(dockerfile));
  let image: Image | undefined;
  for (const stage of stages) image = await takeStage(stage, place, files);
  if (!image) throw new Error(`${dockerfile} has no stage`);
  return image;
}

/** What git knows or would know, without what .dockerignore leaves out. */
async function contextFiles(): Promise<readonly string[]> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const isSent = contextFilter(await readFile(join(root, '.dockerignore'), 'utf8'));
  return stdout.split('\0').filter((file) => file !== '' && isSent(file));
}

async function takeStage({ name, instructions }: Stage, place: string, files: readonly string[]): Promise<Image> {
  const directory = join(place, name === '' ? 'image' : name);
  await copyNode(join(directory, node));
  let workdir = '/';
  const said: Record<string, string> = {};
  const environment: Record<string, string> = {};
  for (const instruction of instructions) {
    const { text } = instruction;
    switch (instruction.name) {
      case 'WORKDIR':
        workdir = resolve(workdir, text);
        await mkdir(join(directory, workdir), { recursive: true });
        break;
      case 'COPY':
        await copy(text, { place, directory, workdir, files });
        break;
      case 'RUN':
        // what was downloaded before need not be again
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
        said[instruction.name] = text;
    }
  }
  const { USER: user = '', ENTRYPOINT: entrypoint = '', CMD: command = '', HEALTHCHECK: healthcheck = '' } = said;
  return { directory, workdir, user, environment, entrypoint, command, healthcheck };
}

type Copying = { readonly place: string; readonly directory: string; readonly workdir: string; readonly files: readonly string[] };

async function copy(text: string, { place, directory, workdir, files }: Copying): Promise<void> {
  const [, stage, paths = ''] = /^(?:--from=(\S+) )?(.+)$/.exec(text) ?? [];
  const [target = '', ...sources] = paths.split(' ').toReversed();
  const to = join(directory, resolve(workdir, target));
  for (const source of sources) {
    const isInto = target.endsWith('/') || target === '.';
    if (stage !== undefined) {
      await cp(join(place, stage, source), to, { recursive: true, verbatimSymlinks: true });
      continue;
    }
    const wanted = files.filter((file) => file === source || file.startsWith(`${source}/`));
    if (wanted.length === 0) throw new Error(`COPY ${source}: no such file in the build context`);
    for (const file of wanted) {
      // a folder is copied by what is in it, a file under its name
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

/** Whoever runs it, if this process may choose: the image's user, who owns nothing of it. */
export function runsAs({ user }: Pick<Image, 'user'>): { uid?: number; gid?: number } {
  const [uid, gid] = user.split(':').map(Number);
  return process.getuid?.() === 0 && uid !== undefined && gid !== undefined ? { uid, gid } : {};
}
