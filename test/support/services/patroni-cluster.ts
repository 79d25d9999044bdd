import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { runAdminSql } from './postgresql-databases.ts';
import { killPostgresql } from './postgresql-server.ts';

const templates = join(import.meta.dirname, '../../../deploy/patroni');
const searchPath = `${process.env['PATH'] ?? ''}:/usr/sbin`;
const packages = { patroni: 'patroni', etcd: 'etcd-server', haproxy: 'haproxy', pgbouncer: 'pgbouncer' };
const debianBinaries = '/usr/lib/postgresql/15/bin';

/** Returns the reason why this machine cannot run a cluster, or undefined if it can. */
export function patroniUnavailableReason(): string | undefined {
  const missing = Object.entries(packages).filter(([program]) => spawnSync('which', [program], { env: { PATH: searchPath } }).status !== 0);
  const names = [...missing.map(([, name]) => name), ...(newestBinaries() === undefined ? ['postgresql'] : [])];
  return names.length === 0 ? undefined : `install the Debian packages ${names.join(', ')}`;
}

const newestBinaries = (): string | undefined => globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1);

const member = z.object({ name: z.string(), role: z.string(), state: z.string() });
type Member = z.infer<typeof member>;
type Passwords = Readonly<Record<'SUPERUSER_PASSWORD' | 'REPLICATION_PASSWORD' | 'MANDATE_PASSWORD', string>>;
type Account = { readonly uid?: number; readonly gid?: number };

const nodes = [1, 2, 3] as const;
export type PatroniNode = (typeof nodes)[number];
const nodeName = (node: PatroniNode): string => `node${node}`;

/**
 * Three nodes with PostgreSQL, Patroni and etcd, behind HAProxy and PgBouncer, all on loopback addresses of this machine. Uses the
 * configuration in `deploy/patroni` with different addresses, directories and passwords.
 */
export class PatroniCluster implements AsyncDisposable {
  /** Database URL through PgBouncer. */
  readonly url: string;
  /** Database URL through HAProxy, without PgBouncer. */
  readonly directUrl: string;
  readonly #directory: string;
  readonly #network = `127.${randomInt(10, 250)}.${randomInt(1, 250)}`;
  readonly #account = postgresqlAccount();
  readonly #processes = new Map<string, ChildProcess>();
  readonly #passwords: Passwords = { SUPERUSER_PASSWORD: password(), REPLICATION_PASSWORD: password(), MANDATE_PASSWORD: password() };

  private constructor(directory: string) {
    this.#directory = directory;
    this.url = `postgres://mandate:${this.#passwords.MANDATE_PASSWORD}@${this.#network}.20:6432/mandate`;
    this.directUrl = `postgres://mandate:${this.#passwords.MANDATE_PASSWORD}@${this.#network}.20:5000/mandate`;
  }

  static async start(): Promise<PatroniCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'mandate-patroni-'));
    await chmod(directory, 0o755);
    const cluster = new PatroniCluster(directory);
    try {
      await cluster.#start();
      return cluster;
    } catch (error) {
      const log = await readFile(cluster.#path('patroni-node1.log'), 'utf8').catch(() => '');
      await cluster[Symbol.asyncDispose]();
      throw new Error(`the Patroni cluster did not start: ${log.slice(-2_000)}`, { cause: error });
    }
  }

  async #start(): Promise<void> {
    for (const node of nodes) {
      await this.#createOwnedDirectories(`etcd-${nodeName(node)}`, `postgresql-${nodeName(node)}`);
      const etcd = await this.#configuration('etcd.yaml', node);
      await this.#run(`etcd-${nodeName(node)}`, 'etcd', ['--config-file', etcd]);
    }
    for (const node of nodes) await this.#startPatroni(node);
    await this.#run('haproxy', 'haproxy', ['-db', '-f', await this.#configuration('haproxy.cfg')]);
    await this.#writeOwnedFile('userlist.txt', `"mandate" "${this.#passwords.MANDATE_PASSWORD}"\n`);
    await this.#run('pgbouncer', 'pgbouncer', [await this.#configuration('pgbouncer.ini')]);
    await this.waitUntilComplete();
    await this.#administer(`create role mandate login password '${this.#passwords.MANDATE_PASSWORD}'`);
    await this.#administer('create database mandate owner mandate');
  }

  async #startPatroni(node: PatroniNode): Promise<void> {
    await this.#run(`patroni-${nodeName(node)}`, 'patroni', [await this.#configuration('patroni.yaml', node)]);
  }

  async #administer(sql: string): Promise<void> {
    const url = new URL(this.directUrl);
    [url.username, url.password, url.pathname] = ['postgres', this.#passwords.SUPERUSER_PASSWORD, '/postgres'];
    await retryUntilSuccess(() => runAdminSql(url.href, sql), 60);
  }

  /** Kills all Patroni and PostgreSQL processes of the leader, as a power failure would. All etcd processes keep running. */
  async killLeader(): Promise<PatroniNode> {
    const leader = await this.#leader();
    this.#processes.get(`patroni-${nodeName(leader)}`)?.kill('SIGKILL');
    await killPostgresql(this.#dataDirectory(leader));
    return leader;
  }

  /** Restarts a killed node and waits until the cluster is complete. */
  async restartNode(node: PatroniNode): Promise<void> {
    await this.#startPatroni(node);
    await this.waitUntilComplete();
  }

  /** Performs a planned switchover to the synchronous standby. */
  async switchOver(): Promise<void> {
    const leader = await this.#leader();
    const response = await fetch(`http://${this.#addressOf(leader)}:8008/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: nodeName(leader) }),
      signal: AbortSignal.timeout(60_000),
    });
    if (!response.ok) throw new Error(`Patroni refused the switchover: ${response.status} ${await response.text()}`);
  }

  /** Waits until the cluster has a leader and a synchronous standby, and all members are running. */
  waitUntilComplete(): Promise<void> {
    return retryUntilSuccess(async () => {
      const members = await this.#members();
      const roles = members.map(({ role }) => role).toSorted();
      if (roles.join() !== 'leader,replica,sync_standby' || members.some(({ state }) => !/^(running|streaming)$/.test(state)))
        throw new Error(`the cluster is not complete: ${JSON.stringify(members)}`);
    }, 120);
  }

  async #leader(): Promise<PatroniNode> {
    const leader = (await this.#members()).find(({ role }) => role === 'leader')?.name;
    const found = nodes.find((node) => nodeName(node) === leader);
    if (found === undefined) throw new Error('the cluster has no leader');
    return found;
  }

  async #members(): Promise<Member[]> {
    for (const node of nodes) {
      const response = await fetch(`http://${this.#addressOf(node)}:8008/cluster`, { signal: AbortSignal.timeout(5_000) }).catch(
        () => undefined,
      );
      if (response?.ok) return z.object({ members: z.array(member) }).parse(await response.json()).members;
    }
    throw new Error('no Patroni node responded');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#processes.values()) child.kill('SIGKILL');
    for (const node of nodes)
      if (existsSync(join(this.#dataDirectory(node), 'postmaster.pid'))) await killPostgresql(this.#dataDirectory(node));
    await rm(this.#directory, { recursive: true, force: true });
  }

  #addressOf = (node: PatroniNode): string => `${this.#network}.${10 + node}`;
  #path = (name: string): string => join(this.#directory, name);
  #dataDirectory = (node: PatroniNode): string => this.#path(`postgresql-${nodeName(node)}/data`);

  async #configuration(template: string, node?: PatroniNode): Promise<string> {
    const name = node === undefined ? template : `${nodeName(node)}-${template}`;
    const values: Readonly<Record<string, string>> = {
      ...(node !== undefined && {
        NODE_NAME: nodeName(node),
        NODE_ADDRESS: this.#addressOf(node),
        '/var/lib/postgresql/mandate': this.#path(`postgresql-${nodeName(node)}`),
        '/var/lib/etcd/mandate': this.#path(`etcd-${nodeName(node)}/data`),
        [debianBinaries]: newestBinaries() ?? debianBinaries,
      }),
      '/etc/pgbouncer/userlist.txt': this.#path('userlist.txt'),
      '10.0.0.': `${this.#network}.`,
      ...this.#passwords,
    };
    const text = await readFile(join(templates, template), 'utf8');
    await this.#writeOwnedFile(
      name,
      Object.entries(values).reduce((filled, [from, to]) => filled.replaceAll(from, to), text),
    );
    return this.#path(name);
  }

  async #run(name: string, program: string, argv: readonly string[]): Promise<void> {
    const log = await open(this.#path(`${name}.log`), 'a');
    const env = { PATH: searchPath, LANG: 'C.UTF-8' };
    const child = spawn(program, argv, { ...this.#account, cwd: this.#directory, env, stdio: ['ignore', log.fd, log.fd] });
    this.#processes.set(name, child);
    await once(child, 'spawn');
    await log.close();
  }

  async #writeOwnedFile(name: string, text: string): Promise<void> {
    await writeFile(this.#path(name), text, { mode: 0o600 });
    await this.#chown(name);
  }

  async #createOwnedDirectories(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await mkdir(this.#path(name), { mode: 0o700 });
      await this.#chown(name);
    }
  }

  async #chown(name: string): Promise<void> {
    const { uid, gid } = this.#account;
    if (uid !== undefined && gid !== undefined) await chown(this.#path(name), uid, gid);
  }
}

const password = (): string => randomBytes(16).toString('hex');

/** PostgreSQL and PgBouncer refuse to run as root. */
function postgresqlAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function retryUntilSuccess(action: () => Promise<unknown>, seconds: number): Promise<void> {
  for (const end = Date.now() + seconds * 1_000; ; await sleep(200)) {
    try {
      await action();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}
