import { forbiddenCharacterMessageFromError, contract } from '@mandate/contract';
import { recordAuditEvent } from '../audit/record-audit-event.ts';
import { readConfig } from '../config/read-config.ts';
import { migrate } from '../database/migrate/run-migrations.ts';
import { createAccountWithVerifiedEmail, EmailTakenError } from '../oauth/accounts/accounts-and-passwords.ts';
import { validateAndHashNewPassword } from '../oauth/pages/handlers/sign-in/validate-and-hash-new-password.ts';
import { defaultShopBranding } from '../branding/default-branding.ts';
import { bundledLanguages } from '../languages/languages.ts';
import { CommandError } from '../process/command-error.ts';
import { exitCodes } from '../process/exit-codes.ts';
import { openDatabaseRunAndClose } from './open-database-and-derive-keys.ts';
import type { StandardStreams } from './standard-streams-type.ts';
import { readNewPassword } from './read-new-password.ts';

const alternative =
  'Stop the server first, or ask an administrator to promote another user: mandate users update ID --role admin (scope users.administer)';

/** Implements `mandate-server admin create`. */
export async function runCreateAdministratorCommand(
  io: StandardStreams,
  account: { readonly email: string; readonly name: string },
): Promise<void> {
  const config = readConfig();
  const { name, email } = parseAccount(account);
  const password = await readNewPassword(io);
  const hashed = await validateAndHashNewPassword(
    password,
    { name, email },
    { shop: defaultShopBranding, messages: bundledLanguages.default.messages },
  );
  if ('reason' in hashed) throw new CommandError(`${hashed.reason}. No account was created; run the command again`);
  const id = await openDatabaseRunAndClose(config, alternative, async (db) => {
    await migrate(db);
    return db.em.fork().transactional(async (em) => {
      const now = new Date();
      const user = await createAccountWithVerifiedEmail(em, { name, email, passwordHash: hashed.hash, role: 'admin' }, now).catch(
        explainTakenEmail,
      );
      const noClient = { ip: null, userAgent: null };
      await recordAuditEvent(em, noClient, { action: 'account.created', userId: user.id, details: { role: 'admin' } }, now);
      return user.id;
    });
  });
  io.stdout.write(`User ${id} (${email}) is now an administrator.\n`);
}

function parseAccount(account: { readonly email: string; readonly name: string }): { readonly email: string; readonly name: string } {
  const { name, email } = contract.users.create.body.shape;
  const [validName, validEmail] = [name.safeParse(account.name), email.safeParse(account.email)];
  if (!validEmail.success) throw new CommandError('--email must be an e-mail address, such as ann@example.com', exitCodes.usage);
  if (!validName.success) {
    const reason = forbiddenCharacterMessageFromError(validName.error) ?? 'must be a name of up to 200 characters';
    throw new CommandError(`--name ${reason}`, exitCodes.usage);
  }
  return { name: validName.data, email: validEmail.data };
}

function explainTakenEmail(error: unknown): never {
  if (!(error instanceof EmailTakenError)) throw error;
  throw new CommandError(
    'an account with this address already exists. Use another address, or ask an administrator to change its role: mandate users update ID --role admin (scope users.administer)',
  );
}
