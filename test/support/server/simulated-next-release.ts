import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** Migrations that are safe while processes from the previous release run (docs/upgrading.md): one example of each kind. */
const compatibleMigrations: readonly {
  readonly name: string;
  readonly statements: readonly string[];
  readonly outsideTransaction?: true;
}[] = [
  {
    name: '20991231000000_gifts',
    statements: [
      'alter table orders add column gift boolean not null default false',
      'alter table orders add column gift_note text null',
      'alter table orders add constraint orders_gift_note_check check (length(gift_note) <= 500) not valid',
    ],
  },
  { name: '20991231000100_gifts_checked', statements: ['alter table orders validate constraint orders_gift_note_check'] },
  {
    name: '20991231000200_gifts_found',
    statements: ['create index concurrently orders_gift on orders (id) where gift'],
    outsideTransaction: true,
  },
  { name: '20991231000300_nicknames', statements: ['alter table users add column nickname text null'] },
  { name: '20991231000400_origins', statements: ['alter table oauth_records add column origin text null'] },
  { name: '20991231000500_descriptions', statements: [`alter table products alter column description set default 'none yet'`] },
  {
    name: '20991231000600_notes',
    statements: [
      'create table order_notes (order_id bigint not null references orders (id), note text not null, primary key (order_id, note))',
    ],
  },
];

const migrationSource = ({ name, statements, outsideTransaction }: (typeof compatibleMigrations)[number]): string => `
import { Migration } from '@mikro-orm/migrations';

export class NextRelease extends Migration {
  override name = '${name}';
  override up(): void {
${statements.map((sql) => `    this.addSql(${JSON.stringify(sql)});`).join('\n')}
  }${outsideTransaction ? '\n  override isTransactional(): boolean { return false; }' : ''}
}
`;

export type SimulatedRelease = AsyncDisposable & {
  /** Path to the simulated release's `server/main.ts`. */
  readonly mainFile: string;
  readonly commandFile: string;
  readonly migrations: readonly string[];
};

type ServerCopy = AsyncDisposable & { readonly directory: string };

/** Creates a temporary directory with a copy of `server`, and with links to everything else in the repository. */
export async function copyServer(): Promise<ServerCopy> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-next-'));
  for (const name of await readdir(root)) if (!['server', '.git'].includes(name)) await symlink(join(root, name), join(directory, name));
  const server = join(directory, 'server');
  await mkdir(server);
  for (const name of await readdir(join(root, 'server')))
    if (name === 'node_modules') await symlink(join(root, 'server', name), join(server, name));
    else await cp(join(root, 'server', name), join(server, name), { recursive: true });
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}

/** Creates a copy of this release, with additional migrations, in a temporary directory. */
export async function createNextRelease(): Promise<SimulatedRelease> {
  const copy = await copyServer();
  const server = join(copy.directory, 'server');
  for (const migration of compatibleMigrations)
    await writeFile(join(server, 'database/migrations', `${migration.name}.ts`), migrationSource(migration));
  return {
    mainFile: join(server, 'main.ts'),
    commandFile: join(server, 'bin/mandate-server.js'),
    migrations: compatibleMigrations.map(({ name }) => name),
    [Symbol.asyncDispose]: () => copy[Symbol.asyncDispose](),
  };
}
