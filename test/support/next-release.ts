import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** What a release may do to the tables that the one before it still uses (docs/upgrading.md): some of everything. */
const expansion = [
  'alter table orders add column gift boolean not null default false',
  'alter table orders add column gift_note text null',
  'alter table orders add constraint orders_gift_note_check check (length(gift_note) <= 500) not valid',
  'alter table orders validate constraint orders_gift_note_check',
  'alter table users add column nickname text null',
  'alter table oauth_records add column origin text null',
  'alter table products alter column description set default $$none yet$$',
  'create table order_notes (order_id bigint not null references orders (id), note text not null, primary key (order_id, note))',
  'create index orders_gift on orders (id) where gift',
];

export type NextRelease = AsyncDisposable & {
  /** Of its server, as `server/main.ts` is of this one. */
  readonly main: string;
  readonly command: string;
  readonly migration: string;
};

/** This release with one more migration, in a directory of its own. */
export async function nextRelease(): Promise<NextRelease> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-next-'));
  for (const name of await readdir(root)) if (!['server', '.git'].includes(name)) await symlink(join(root, name), join(directory, name));
  const server = join(directory, 'server');
  await mkdir(server);
  for (const name of await readdir(join(root, 'server')))
    if (name === 'node_modules') await symlink(join(root, 'server', name), join(server, name));
    else await cp(join(root, 'server', name), join(server, name), { recursive: true });
  const migration = '20991231000000_next_release';
  const statements = expansion.map((sql) => `    this.addSql(${JSON.stringify(sql)});`).join('\n');
  await writeFile(
    join(server, 'database/migrations', `${migration}.ts`),
    `import { Migration } from '@mikro-orm/migrations';\n\nexport class NextRelease extends Migration {\n  override name = '${migration}';\n\n  override up(): void {\n${statements}\n  }\n}\n`,
  );
  return {
    main: join(server, 'main.ts'),
    command: join(server, 'bin/mandate-server.js'),
    migration,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}
