import { raw } from '@mikro-orm/core';
import { sha256 } from '../crypto/sha256.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { RowError } from '../imports/parse-import-cells-and-validate-row.ts';
import { ImportedUser } from '../users/imported-user.entity.ts';
import { User } from '../users/user.entity.ts';
import { ImportedCustomerReference } from './imported-order-and-customer-reference.entity.ts';
import type { OrderImportParams } from './order-import-parameters.ts';
import type { ImportedOrderFields } from './parse-order-row.ts';

/**
 * Returns the account of an order's customer. Finds the account by the customer key (from an earlier import of orders or users) or by the
 * e-mail address, or creates an account. If the order has neither a customer key nor an e-mail address, returns the account specified in
 * the parameters.
 */
export async function findOrCreateCustomer(
  em: EntityManager,
  params: OrderImportParams,
  head: ImportedOrderFields,
): Promise<number | RowError> {
  const { source, user_id: userId } = params;
  const key = head.customer ?? head.customer_email;
  if (key === undefined) return userId === undefined ? customerMissing : findUserById(em, userId);
  const imported = await em.findOne(ImportedCustomerReference, { source, key }, { disableIdentityMap: true });
  if (imported) return imported.user;
  const known = await findExistingUser(em, source, head);
  if (!known && params.unknown_customers === 'refuse') {
    return { field: 'customer', code: 'unknown_reference', detail: `There is no customer ${JSON.stringify(key)}.` };
  }
  const name = head.customer_name ?? `Customer ${key}`.slice(0, 200);
  const user = known?.id ?? (await em.insert(User, { name, email: head.customer_email ?? placeholderEmail(source, key) }));
  await em.insert(ImportedCustomerReference, { source, key, user });
  return user;
}

/**
 * Finds the user that a user import from the same source created for this external ID (the customer key), or else the user with this e-mail
 * address.
 */
async function findExistingUser(em: EntityManager, source: string, head: ImportedOrderFields): Promise<{ id: number } | undefined> {
  const { customer: externalId, customer_email: email } = head;
  const imported = externalId === undefined ? null : await em.findOne(ImportedUser, { source, externalId }, { disableIdentityMap: true });
  const importedUser = imported && (await em.findOne(User, { id: imported.user, status: { $ne: 'closed' } }, { disableIdentityMap: true }));
  if (importedUser) return importedUser;
  return (email === undefined ? null : await findUserByEmail(em, email)) ?? undefined;
}

const findUserByEmail = (em: EntityManager, email: string): Promise<User | null> =>
  em.findOne(User, { status: { $ne: 'closed' }, [raw('lower(email) = lower(?)', [email])]: [] }, { disableIdentityMap: true });

const customerMissing: RowError = { field: 'customer', code: 'required', detail: 'The order does not specify a customer.' };

async function findUserById(em: EntityManager, id: number): Promise<number | RowError> {
  const user = await em.findOne(User, { id, status: { $ne: 'closed' } }, { disableIdentityMap: true });
  return user?.id ?? { field: 'user_id', code: 'unknown_reference', detail: `There is no user ${id}.` };
}

/** Returns an undeliverable address (RFC 2606, `.invalid`) that depends only on the source and the customer key. */
function placeholderEmail(source: string, key: string): string {
  const name = sha256(`${source}\n${key}`, 'hex').slice(0, 24);
  return `imported-${name}@users.invalid`;
}
