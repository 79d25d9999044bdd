import { sha256 } from '../crypto/sha256.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { RowError } from '../imports/parse-cells.ts';
import type { OrderImportParams } from './order-import-parameters.ts';
import type { ImportedOrderHead } from './parse-order-row.ts';

type Account = { readonly id: number };

const findUser = prepareStatement<Account>('find_user_of_import', `select id from users where id = $1 and status <> 'closed'`);
const findImported = prepareStatement<Account>(
  'find_imported_customer',
  'select user_id as id from imported_customers where source = $1 and key = $2',
);
const findByEmail = prepareStatement<Account>(
  'find_customer_by_email',
  `select id from users where lower(email) = lower($1) and status <> 'closed'`,
);
const createUser = prepareStatement<Account>('create_imported_customer', 'insert into users (name, email) values ($1, $2) returning id');
const storeImportedCustomer = prepareStatement(
  'store_imported_customer',
  'insert into imported_customers (source, key, user_id) values ($1, $2, $3)',
);

/** Returns the account of an order's customer: by the source's customer key, by e-mail address, or as the import parameters specify. */
export async function findOrCreateCustomer(
  em: EntityManager,
  params: OrderImportParams,
  head: ImportedOrderHead,
): Promise<number | RowError> {
  const { source, user_id: userId } = params;
  const key = head.customer ?? head.customer_email;
  if (key === undefined) return userId === undefined ? customerMissing : findUserById(em, userId);
  const [imported] = await findImported(em, [source, key]);
  if (imported) return imported.id;
  const [known] = head.customer_email === undefined ? [] : await findByEmail(em, [head.customer_email]);
  if (!known && params.unknown_customers === 'refuse') {
    return { field: 'customer', code: 'unknown_reference', detail: `There is no customer ${JSON.stringify(key)}.` };
  }
  const [user] = known
    ? [known]
    : await createUser(em, [head.customer_name ?? `Customer ${key}`.slice(0, 200), head.customer_email ?? placeholderEmail(source, key)]);
  if (!user) throw new Error('inserting a user returned no row');
  await storeImportedCustomer(em, [source, key, user.id]);
  return user.id;
}

const customerMissing: RowError = { field: 'customer', code: 'required', detail: 'The order names no customer.' };

async function findUserById(em: EntityManager, id: number): Promise<number | RowError> {
  const [user] = await findUser(em, [id]);
  return user?.id ?? { field: 'user_id', code: 'unknown_reference', detail: `There is no user ${id}.` };
}

/** Returns an undeliverable address (RFC 2606, `.invalid`) that is always the same for the same customer of the same source. */
function placeholderEmail(source: string, key: string): string {
  const name = sha256(`${source}\n${key}`, 'hex').slice(0, 24);
  return `imported-${name}@users.invalid`;
}
