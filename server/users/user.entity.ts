import { defineEntity, p } from '@mikro-orm/core';
import { problem, type Problem } from '../http/problem.ts';

const schema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    name: p.text().check('length(name) >= 1 and length(name) <= 200'),
    /** Kept as it was typed; two addresses that differ only in case are the same account. */
    email: p.text().check('length(email) >= 3 and length(email) <= 254'),
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
});

export class User extends schema.class {
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
    this.email = `closed-${this.id}@users.invalid`;
  }
}
schema.setClass(User);

// Not a private method: the ORM makes entities without their constructor.
const impossible = ({ status }: User, next: string): Problem =>
  problem('invalid_transition', { detail: `The user is ${status}, and cannot become ${next}.` });
