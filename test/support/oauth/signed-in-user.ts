import { randomUUID } from 'node:crypto';
import { createAccountWithVerifiedEmail } from '../../../server/oauth/accounts/accounts-and-passwords.ts';
import { hashPassword } from '../../../server/oauth/passwords/hash-and-verify-password.ts';
import { signIn, type TestUser } from './oauth-flow.ts';
import type { ServerPair } from '../server/server-pair.ts';

/** Creates a signed-in user. Sign-up is not possible, because the test cannot read e-mails sent by the server processes. */
export async function createSignedInUser({ db, origin }: Pick<ServerPair, 'db' | 'origin'>): Promise<Pick<TestUser, 'id' | 'browser'>> {
  const [email, password] = [`anna.${randomUUID()}@example.com`, `correct horse ${randomUUID()}`];
  const { id } = await createAccountWithVerifiedEmail(
    db.em.fork(),
    { name: 'Anna Test', email, passwordHash: await hashPassword(password) },
    new Date(),
  );
  return { id, browser: await signIn(origin, { email, password }) };
}
