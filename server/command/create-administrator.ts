import { characterFault, contract } from '@mandate/contract';
import { recordAuditEvent } from '../audit/record-audit-event.ts';
import { readConfig } from '../config/config.ts';
import { migrate } from '../database/migrate/run-migrations.ts';
import { createAccount, EmailTakenError } from '../oauth/accounts/account-store.ts';
import { hashNewPassword } from '../oauth/pages/handlers/password-rules.ts';
import { defaultShop } from '../oauth/pages/views/page-layout.ts';
import { english } from '../oauth/pages/messages/english-messages.ts';
import { CommandFailure } from '../process/command-failure.ts';
import { exitCodes } from '../process/exit-codes.ts';
import { withDatabase } from './with-database.ts';
import type { Io } from './io.ts';
import { readPassword } from './read-password.ts';

const alternative =
  'Stop the server first, or have an administrator make somebody else one: mandate users update ID --role admin (scope users.administer)';

/** `mandate-server admin create` */
export async function createAdministrator(io: Io, account: { readonly email: string; readonly name: string }): Promise<void> {
  const config = readConfig();
  const { name, email } = parseAccount(account);
  const password = await readPassword(io);
  const hashed = await hashNewPassword(password, { name, email }, { shop: defaultShop, words: english });
  if ('reason' in hashed) throw new CommandFailure(`${hashed.reason}. No account was created; call the command again`);
  const id = await withDatabase(config, alternative, async (db) => {
    await migrate(db);
    return db.em.fork().transactional(async (em) => {
      const now = new Date();
      const user = await createAccount(em, { name, email, passwordHash: hashed.hash, role: 'admin' }, now).catch(explainTakenEmail);
      const noClient = { ip: null, userAgent: null };
      await recordAuditEvent(em, noClient, { action: 'account.created', userId: user.id, details: { role: 'admin' } }, now);
      return user.id;
    });
  });
  io.stdout.write(`Made user ${id}, ${email}, an administrator.\n`);
}

function parseAccount(account: { readonly email: string; readonly name: string }): { readonly email: string; readonly name: string } {
  const { name, email } = contract.users.create.body.shape;
  const [validName, validEmail] = [name.safeParse(account.name), email.safeParse(account.email)];
  if (!validEmail.success) throw new CommandFailure('--email takes an e-mail address, such as ann@example.com', exitCodes.usage);
  if (!validName.success) {
    const reason = characterFault(validName.error) ?? 'must be a name of up to 200 characters';
    throw new CommandFailure(`--name ${reason}`, exitCodes.usage);
  }
  return { name: validName.data, email: validEmail.data };
}

function explainTakenEmail(error: unknown): never {
  if (!(error instanceof EmailTakenError)) throw error;
  throw new CommandFailure(
    'there is an account with this address. Name another one, or have an administrator change its role: mandate users update ID --role admin (scope users.administer)',
  );
}
