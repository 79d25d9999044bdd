import { randomInt } from 'node:crypto';
import { firstPartyOnlyScopes, scopeNames, scopeDefinitions } from '@mandate/contract';
import type { Application } from '../applications/application.entity.ts';
import { createApplication, type ApplicationInput } from '../applications/validate-and-create-application.ts';
import { ConfigurationError, type Config } from '../config/read-config.ts';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { acquireAdvisoryLockForNumber } from '../database/queries/acquire-advisory-lock.sql.ts';
import { createAccountWithVerifiedEmail } from '../oauth/accounts/accounts-and-passwords.ts';
import { validateAndHashNewPassword, type PasswordOwner } from '../oauth/pages/handlers/sign-in/validate-and-hash-new-password.ts';
import { defaultShopBranding } from '../branding/default-branding.ts';
import { bundledLanguages } from '../languages/languages.ts';
import { User } from '../users/user.entity.ts';
import { createDemonstrationShop } from './create-demonstration-shop.ts';
import { writeFirstRunCredentialsKeepingPrevious, type FirstRunCredentials } from './first-run-credentials-file.ts';

type Installation = Pick<Config, 'production' | 'dataDirectory' | 'issuer' | 'administrator'>;

/** Arbitrary id of the advisory lock. */
const firstRunLockId = 7_262_634;

const administratorName = 'Administrator';

/**
 * On the first start with a new database, creates the administrator and, in development, a demonstration shop. Everything is created in one
 * transaction, so an administrator exists if and only if the transaction was committed. If the first start is interrupted, the next start
 * repeats it. If several processes start at the same time, only one of them creates the data.
 */
export async function createAdministratorAndDemonstrationShop(
  db: Database,
  installation: Installation,
  now: Date,
): Promise<'prepared' | 'in use' | 'without administrator'> {
  return db.em.fork().transactional(async (em) => {
    await acquireAdvisoryLockForNumber(em, firstRunLockId);
    if ((await em.count(User, { role: 'admin' })) > 0) return 'in use';
    if (installation.production) return prepareProduction(em, installation, now);
    const accounts = await prepareDemonstration(em, installation, now);
    // the file is written before the commit, so that it exists as soon as the data is visible
    await writeFirstRunCredentialsKeepingPrevious(installation.dataDirectory, accounts);
    return 'prepared';
  });
}

async function prepareProduction(
  em: EntityManager,
  { administrator }: Installation,
  now: Date,
): Promise<'prepared' | 'without administrator'> {
  if (!administrator) return 'without administrator';
  const { email, password } = administrator;
  const owner = { name: administratorName, email };
  await createAccountWithVerifiedEmail(em, { ...owner, passwordHash: await hashConfiguredPassword(password, owner), role: 'admin' }, now);
  return 'prepared';
}

async function prepareDemonstration(em: EntityManager, { administrator, issuer }: Installation, now: Date): Promise<FirstRunCredentials> {
  const accounts = {
    administrator: { name: administratorName, ...(administrator ?? { email: 'admin@example.com', password: memorablePassword() }) },
    customer: { name: 'Demonstration Customer', email: 'customer@example.com', password: memorablePassword() },
  };
  for (const [role, { name, email, password }] of [
    ['admin', accounts.administrator],
    ['customer', accounts.customer],
  ] as const) {
    await createAccountWithVerifiedEmail(
      em,
      { name, email, passwordHash: await hashConfiguredPassword(password, { name, email }), role },
      now,
    );
  }
  await createDemonstrationShop(em);
  return {
    issuer,
    api: `${issuer}/api/v1`,
    created_at: now.toISOString(),
    ...accounts,
    applications: {
      demonstration: await createConfidentialApplication(em, {
        clientId: 'demonstration',
        name: 'Demonstration application',
        scopes: scopeNames.filter((scope) => !scopeDefinitions[scope].admin && !firstPartyOnlyScopes.has(scope)),
        grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
        redirectUris: ['http://127.0.0.1:8080/callback', 'http://localhost:8080/callback'],
      }),
      administration: await createConfidentialApplication(em, {
        clientId: 'demonstration-administration',
        name: 'Demonstration administration',
        scopes: scopeNames.filter((scope) => !firstPartyOnlyScopes.has(scope)),
        grantTypes: ['client_credentials'],
        // the rate limit is high, because scripts use this application to import data into the shop
        rateLimitPerMinute: 60_000,
      }),
    },
  };
}

/** @throws ConfigurationError if the administrator's password is easy to guess */
async function hashConfiguredPassword(password: string, owner: PasswordOwner): Promise<string> {
  const hashed = await validateAndHashNewPassword(password, owner, {
    shop: defaultShopBranding,
    messages: bundledLanguages.default.messages,
  });
  if ('hash' in hashed) return hashed.hash;
  throw new ConfigurationError(`MANDATE_ADMIN_PASSWORD was rejected, and no administrator was created. ${hashed.reason}`);
}

type FirstRunApplication = FirstRunCredentials['applications']['demonstration'];

async function createConfidentialApplication(em: EntityManager, input: Omit<ApplicationInput, 'type'>): Promise<FirstRunApplication> {
  const { application, secret } = await createApplication(em, { ...input, type: 'confidential' });
  if (secret === null) throw new Error(`${input.clientId} received no secret`);
  return toFirstRunApplication(application, secret);
}

const toFirstRunApplication = ({ clientId, scopes: grantedScopes, redirectUris }: Application, secret: string): FirstRunApplication => ({
  client_id: clientId,
  client_secret: secret,
  scopes: grantedScopes,
  redirect_uris: redirectUris,
});

/** Generates a password with 79 bits of entropy, without look-alike characters, and in groups that are easy to type. */
function memorablePassword(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
  const group = (): string => Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('');
  return Array.from({ length: 4 }, group).join('-');
}
