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

const otherwise =
  'Stop the server first, or have an administrator make somebody else one: mandate users update ID --role admin (scope users.administer)';

/** `mandate-server admin create` */
export async function createAdministrator(io: Io, given: { readonly email: string; readonly name: string }): Promise<void> {
  const config = readConfig();
  const { name, email } = validAccount(given);
  const password = await readPassword(io);
  const chosen = await hashNewPassword(password, { name, email }, { shop: defaultShop, words: english });
  if ('reason' in chosen) throw new CommandFailure(`${chosen.reason}. No account was created; call the command again`);
  const id = await withDatabase(config, otherwise, async (db) => {
    await migrate(db);
    return db.em.fork().transactional(async (em) => {
      const now = new Date();
      const user = await createAccount(em, { name, email, passwordHash: chosen.hash, role: 'admin' }, now).catch(refuseTaken);
      const nowhere = { ip: null, userAgent: null };
      await recordAuditEvent(em, nowhere, { action: 'account.created', userId: user.id, details: { role: 'admin' } }, now);
      return user.id;
    });
  });
  io.stdout.write(`Made user ${id}, ${email}, an administrator.\n`);
}

function validAccount(given: { readonly email: string; readonly name: string }): { readonly email: string; readonly name: string } {
  const { name, email } = contract.users.create.body.shape;
  const [validName, validEmail] = [name.safeParse(given.name), email.safeParse(given.email)];
  if (!validEmail.success) throw new CommandFailure('--email takes an e-mail address, such as ann@example.com', exitCodes.usage);
  if (!validName.success) {
    const reason = characterFault(validName.error) ?? 'takes a name of up to 200 characters';
    throw new CommandFailure(`--name ${reason}`, exitCodes.usage);
  }
  return { name: validName.data, email: validEmail.data };
}

function refuseTaken(error: unknown): never {
  if (!(error instanceof EmailTakenError)) throw error;
  throw new CommandFailure(
    'there is an account with this address. Name another one, or have an administrator change its role: mandate users update ID --role admin (scope users.administer)',
  );
}
