import { randomInt } from 'node:crypto';
import { scopeNames, scopes } from '@mandate/contract';
import type { Application } from '../applications/application.entity.ts';
import { createApplication, type ApplicationInput } from '../applications/create-application.ts';
import { ConfigurationError, type Config } from '../config/config.ts';
import type { Database, Em } from '../database/entity-manager/entity-manager.ts';
import { createAccount } from '../oauth/accounts/account-store.ts';
import { hashNewPassword, type PasswordOwner } from '../oauth/pages/handlers/password-rules.ts';
import { defaultShop } from '../oauth/pages/views/page-layout.ts';
import { english } from '../oauth/pages/messages/english-messages.ts';
import { User } from '../users/user.entity.ts';
import { createDemonstrationShop } from './demonstration-shop.ts';
import { writeFirstRunFile, type FirstRunFile } from './first-run-file.ts';

type Installation = Pick<Config, 'production' | 'dataDirectory' | 'issuer' | 'administrator'>;

/** Any number, as long as nobody else locks the same one. */
const firstRunLock = 7_262_634;

const administratorName = 'Administrator';

/**
 * The first start on a database makes its administrator, and in development a shop to try things out in.
 * All of it is one transaction: there is an administrator exactly when it came to its end, so whatever a
 * killed process left undone is done by the next one. Of several that start together, one does it.
 */
export async function prepareInstallation(
  db: Database,
  installation: Installation,
  now: Date,
): Promise<'prepared' | 'in use' | 'without administrator'> {
  return db.em.fork().transactional(async (em) => {
    await em.execute('select pg_advisory_xact_lock(?)', [firstRunLock]);
    if ((await em.count(User, { role: 'admin' })) > 0) return 'in use';
    if (installation.production) return prepareProduction(em, installation, now);
    const made = await prepareDemonstration(em, installation, now);
    // before the commit: what the file says is then in the database as soon as anybody can ask it
    await writeFirstRunFile(installation.dataDirectory, made);
    return 'prepared';
  });
}

async function prepareProduction(em: Em, { administrator }: Installation, now: Date): Promise<'prepared' | 'without administrator'> {
  if (!administrator) return 'without administrator';
  const { email, password } = administrator;
  const owner = { name: administratorName, email };
  await createAccount(em, { ...owner, passwordHash: await hashConfiguredPassword(password, owner), role: 'admin' }, now);
  return 'prepared';
}

async function prepareDemonstration(em: Em, { administrator, issuer }: Installation, now: Date): Promise<FirstRunFile> {
  const made = {
    administrator: { name: administratorName, ...(administrator ?? { email: 'admin@example.com', password: memorablePassword() }) },
    customer: { name: 'Demonstration Customer', email: 'customer@example.com', password: memorablePassword() },
  };
  for (const [role, { name, email, password }] of [
    ['admin', made.administrator],
    ['customer', made.customer],
  ] as const) {
    await createAccount(em, { name, email, passwordHash: await hashConfiguredPassword(password, { name, email }), role }, now);
  }
  await createDemonstrationShop(em);
  return {
    issuer,
    api: `${issuer}/api/v1`,
    created_at: now.toISOString(),
    ...made,
    applications: {
      demonstration: await createConfidential(em, {
        clientId: 'demonstration',
        name: 'Demonstration application',
        scopes: scopeNames.filter((scope) => !scopes[scope].admin),
        grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
        redirectUris: ['http://127.0.0.1:8080/callback', 'http://localhost:8080/callback'],
      }),
      administration: await createConfidential(em, {
        clientId: 'demonstration-administration',
        name: 'Demonstration administration',
        scopes: scopeNames,
        grantTypes: ['client_credentials'],
        // what it is for is to fill the shop
        rateLimitPerMinute: 60_000,
      }),
    },
  };
}

/** @throws ConfigurationError when the administrator's password is easy to guess */
async function hashConfiguredPassword(password: string, owner: PasswordOwner): Promise<string> {
  const chosen = await hashNewPassword(password, owner, { shop: defaultShop, words: english });
  if ('hash' in chosen) return chosen.hash;
  throw new ConfigurationError(`MANDATE_ADMIN_PASSWORD is refused, and no administrator was created. ${chosen.reason}`);
}

type MadeApplication = FirstRunFile['applications']['demonstration'];

async function createConfidential(em: Em, input: Omit<ApplicationInput, 'type'>): Promise<MadeApplication> {
  const { application, secret } = await createApplication(em, { ...input, type: 'confidential' });
  if (secret === null) throw new Error(`${input.clientId} got no secret`);
  return describe(application, secret);
}

const describe = ({ clientId, scopes: granted, redirectUris }: Application, secret: string): MadeApplication => ({
  client_id: clientId,
  client_secret: secret,
  scopes: granted,
  redirect_uris: redirectUris,
});

/** 80 random bits in groups that can be typed from the screen: no letter that looks like a digit. */
function memorablePassword(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
  const group = (): string => Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('');
  return Array.from({ length: 4 }, group).join('-');
}
