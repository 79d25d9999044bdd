import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cache, type GeneratorVersion } from './generator.ts';
import { run } from './run-command.ts';

/** Steps to build and run a client in one language. `folder` is a separate directory with the generated code in `generated`. */
export type Language = {
  readonly name: string;
  readonly version: GeneratorVersion;
  readonly options: readonly string[];
  /** Debian packages required to compile and run the client. */
  readonly packages: readonly string[];
  build(folder: string): Promise<void>;
  /** Places an order and returns it as JSON. */
  order(folder: string, env: Readonly<Record<string, string>>): Promise<string>;
};

const directory = import.meta.dirname;
const skipping = ['--skip-validate-spec'];

const python: Language = {
  name: 'Python',
  version: '1.0.18-5.0.0-beta2',
  options: ['-g', 'python', ...skipping],
  packages: ['python3-urllib3', 'python3-dateutil', 'python3-six', 'python3-certifi'],
  build: async (folder) => void (await run('/usr/bin/python3', ['-m', 'compileall', '-q', join(folder, 'generated', 'openapi_client')])),
  order: (folder, env) =>
    run('/usr/bin/python3', [join(directory, 'python', 'order.py')], { env: { ...env, PYTHONPATH: join(folder, 'generated') } }),
};

const goPath = (folder: string) => ({ GO111MODULE: 'off', GOPATH: `${folder}:/usr/share/gocode`, GOCACHE: join(cache, 'go-build') });

const go: Language = {
  name: 'Go',
  version: '1.0.15-5.0.0-beta',
  options: ['-g', 'go-experimental', '--package-name', 'mandate', ...skipping],
  packages: ['golang-go', 'golang-golang-x-oauth2-dev'],
  async build(folder) {
    await mkdir(join(folder, 'src', 'order'), { recursive: true });
    await rm(join(folder, 'generated', 'test'), { recursive: true, force: true });
    await cp(join(folder, 'generated'), join(folder, 'src', 'mandate'), { recursive: true });
    await cp(join(directory, 'go', 'order.go'), join(folder, 'src', 'order', 'order.go'));
    await run('go', ['build', '-o', join(folder, 'place-order'), 'order'], { cwd: folder, env: goPath(folder) });
  },
  order: (folder, env) => run(join(folder, 'place-order'), [], { env }),
};

const jars = ['jackson-core', 'jackson-databind', 'jackson-annotations', 'jsr305'].map((name) => `/usr/share/java/${name}.jar`);

const java: Language = {
  name: 'Java',
  version: '1.0.18-5.0.0-beta2',
  options: ['-g', 'java', '--library', 'native', '-p', 'dateLibrary=java8,openApiNullable=false', ...skipping],
  packages: [
    'default-jdk-headless',
    'libjackson2-core-java',
    'libjackson2-databind-java',
    'libjackson2-annotations-java',
    'libjsr305-java',
  ],
  async build(folder) {
    const sources = [join(folder, 'generated', 'src', 'main', 'java'), join(directory, 'java')];
    const files = await Promise.all(
      sources.map(async (source) =>
        (await readdir(source, { recursive: true })).filter((name) => name.endsWith('.java')).map((name) => join(source, name)),
      ),
    );
    await run('javac', ['-nowarn', '-encoding', 'UTF-8', '-d', join(folder, 'classes'), '-cp', jars.join(':'), ...files.flat()]);
  },
  order: (folder, env) => run('java', ['-cp', [join(folder, 'classes'), ...jars].join(':'), 'PlaceOrder'], { env }),
};

export const languages: readonly Language[] = [python, go, java];
