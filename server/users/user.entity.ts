import { defineEntity, type EventArgs, p } from '@mikro-orm/core';
import { problem, type Problem } from '../http/problem-details/problem.ts';

const schema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    name: p.text().check('length(name) >= 1 and length(name) <= 200'),
    /** Kept as it was typed; two addresses that differ only in case are the same account. */
    email: p.text().check('length(email) >= 3 and length(email) <= 254'),
    /**
     * Whether the owner of the account has proved to receive mail at the address. `confirmation_required` means that somebody else
     * changed it: it resets no password until it is confirmed. At an `unverified` address of a new account the reset link confirms it.
     */
    emailVerification: p.enum(['unverified', 'verified', 'confirmation_required']).default('unverified'),
    status: p.enum(['active', 'suspended', 'closed']).default('active'),
    role: p.enum(['customer', 'staff', 'admin']).default('customer'),
    version: p.integer().version(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p
      .datetime(3)
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
  // A closed account gives its address back.
  uniques: [
    { name: 'users_email_unique', expression: `create unique index users_email_unique on users (lower(email)) where status <> 'closed'` },
  ],
  indexes: [{ name: 'users_created', properties: ['createdAt', 'id'] }],
  hooks: { beforeUpdate: [refuseAssignedEmail] },
});

/** Users whose address changed by a method of the entity since it was last written. */
const changedByMethod = new WeakSet<object>();

export class User extends schema.class {
  /** Changed by `changeEmailAddress` (change-email-address.ts) alone, which invalidates links and tells the owner. */
  declare readonly email: string;

  /** Call `changeEmailAddress` instead. */
  replaceEmailAddress(email: string, isVerified: boolean): void {
    writeEmailAddress(this, email, isVerified ? 'verified' : 'confirmation_required');
  }

  /** Returns false if the address was verified already. */
  verifyEmailAddress(): boolean {
    if (this.emailVerification === 'verified') return false;
    this.emailVerification = 'verified';
    return true;
  }

  /** Its tokens are refused from the next request on; what it agreed to is kept. */
  suspend(): void {
    if (this.status !== 'active') throw impossible(this, 'suspended');
    this.status = 'suspended';
  }

  reactivate(): void {
    if (this.status !== 'suspended') throw impossible(this, 'active');
    this.status = 'active';
  }

  /** For good: who it was is forgotten, and the address is free again. */
  close(): void {
    if (this.status === 'closed') throw impossible(this, 'closed');
    this.status = 'closed';
    this.name = 'Closed user';
    writeEmailAddress(this, `closed-${this.id}@users.invalid`, 'unverified');
  }
}
schema.setClass(User);

function writeEmailAddress(user: User, email: string, emailVerification: User['emailVerification']): void {
  changedByMethod.add(user);
  Object.assign(user, { email, emailVerification });
}

/** Stops code that assigns an address by a way that the compiler does not see. */
function refuseAssignedEmail({ entity, changeSet }: EventArgs<object>): void {
  if (changeSet?.payload && 'email' in changeSet.payload && !changedByMethod.delete(entity)) {
    throw new Error('an e-mail address was assigned: call changeEmailAddress');
  }
}

// Not a private method: the ORM makes entities without their constructor.
const impossible = ({ status }: User, next: string): Problem =>
  problem('invalid_transition', { detail: `The user is ${status}, and cannot become ${next}.` });
