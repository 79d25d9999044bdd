import { defineEntity, type EventArgs, p } from '@mikro-orm/core';
import { versionAndTimestampProperties } from '../database/entity-manager/version-and-timestamp-properties.ts';
import { createProblem, type Problem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';

const schema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    name: p.text().check('length(name) >= 1 and length(name) <= 200'),
    /** The address is stored as entered. Addresses that differ only in case belong to the same account. */
    email: p.text().check('length(email) >= 3 and length(email) <= 254'),
    /**
     * Whether the account owner has confirmed the address. `confirmation_required` means that another user or a client changed the address.
     * Such an address cannot be used to reset the password until the owner confirms it. A password reset link also confirms the
     * `unverified` address of a new account.
     */
    emailVerification: p.enum(['unverified', 'verified', 'confirmation_required']).default('unverified'),
    status: p.enum(['active', 'suspended', 'closed']).default('active'),
    role: p.enum(['customer', 'staff', 'admin']).default('customer'),
    /** The language of pages and e-mails, as a BCP 47 tag; null if the user has not chosen one. */
    locale: p.text().nullable(),
    ...versionAndTimestampProperties(),
  },
  // A closed account's address can be used again.
  uniques: [
    { name: 'users_email_unique', expression: `create unique index users_email_unique on users (lower(email)) where status <> 'closed'` },
  ],
  indexes: [
    { name: 'users_created', properties: ['createdAt', 'id'] },
    { name: 'users_name_search', expression: 'create index users_name_search on users using gin (lower(name) gin_trgm_ops)' },
  ],
  hooks: { beforeUpdate: [rejectAssignedEmail] },
});

/** Users whose address an entity method has changed since the most recent flush. */
const changedByMethod = new WeakSet<object>();

export class User extends schema.class {
  /**
   * Changed only by `changeEmailAddressNotifyAndAudit` (change-email-address-or-mark-verified.ts), which also invalidates e-mailed
   * links and notifies the owner.
   */
  declare readonly email: string;

  /**
   * Sets the e-mail address without recording the change in the audit log, notifying the owner or invalidating links. Call
   * `changeEmailAddressNotifyAndAudit` instead.
   */
  replaceEmailAddress(email: string, isVerified: boolean): void {
    writeEmailAddress(this, email, isVerified ? 'verified' : 'confirmation_required');
  }

  /** Marks the address as verified. Returns false if the address was already verified. */
  markEmailVerified(): boolean {
    if (this.emailVerification === 'verified') return false;
    this.emailVerification = 'verified';
    return true;
  }

  /** Suspends the account. All further requests with the user's access tokens are rejected; consents are kept. */
  suspend(): void {
    if (this.status !== 'active') throw invalidTransition(this, 'suspended');
    this.status = 'suspended';
  }

  reactivate(): void {
    if (this.status !== 'suspended') throw invalidTransition(this, 'active');
    this.status = 'active';
  }

  /** Closes the account permanently, erases the name and releases the e-mail address. */
  close(): void {
    if (this.status === 'closed') throw invalidTransition(this, 'closed');
    this.status = 'closed';
    this.name = 'Closed user';
    this.locale = null;
    writeEmailAddress(this, `closed-${this.id}@users.invalid`, 'unverified');
  }
}
schema.setClass(User);

function writeEmailAddress(user: User, email: string, emailVerification: User['emailVerification']): void {
  changedByMethod.add(user);
  Object.assign(user, { email, emailVerification });
}

/** Rejects an e-mail address that was assigned directly, such as with `Object.assign`, which the compiler cannot detect. */
function rejectAssignedEmail({ entity, changeSet }: EventArgs<object>): void {
  if (changeSet?.payload && 'email' in changeSet.payload && !changedByMethod.delete(entity)) {
    throw new Error('an e-mail address was assigned directly: call changeEmailAddressNotifyAndAudit');
  }
}

// This is a function and not a `#private` method, because MikroORM creates entities without calling the constructor.
const invalidTransition = ({ status }: User, next: string): Problem =>
  createProblem('invalid_transition', {
    detail: translatable`The user has the status ${{ status }}, which cannot be changed to ${{ next }}.`,
  });
