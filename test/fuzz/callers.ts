import { type Scope, scopeNames, scopeDefinitions } from '@mandate/contract';
import { z } from 'zod';
import type { Mandate } from '../support/server/start-mandate.ts';
import { clientCredentials, confidentialClient, signUp, signUpAs, tokensFor } from '../support/oauth/oauth-flow.ts';

export const callerNames = [
  'anonymous',
  'customer',
  'other customer',
  'reader',
  'administrator',
  'former staff',
  'application',
  'API key',
  'revoked API key',
  'key keeper',
  'nobody',
] as const;
export type CallerName = (typeof callerNames)[number];

export type Caller = {
  readonly token: string | undefined;
  /** What it may do, when it is who it says. */
  readonly scopes: readonly string[];
  /** Whose things it may see; nothing for those that may see everybody's. */
  readonly userId?: number;
};

/** Whoever has it makes everybody's tokens useless; so few requests have it. */
const rotates: Scope = 'signing_keys.manage';
const ofCustomers = scopeNames.filter((name) => !scopeDefinitions[name].admin);
const ofStaff = scopeNames.filter((name) => name !== rotates);

const triesMax = 5;
const apiKey = z.object({ id: z.number(), key: z.string() });

/** Everybody who calls the API, each with a way to come anew: what a request does may end the access of any of them. */
export class Callers {
  readonly #mandate: Mandate;
  readonly #callers = new Map<CallerName, Promise<Caller>>();

  constructor(mandate: Mandate) {
    this.#mandate = mandate;
  }

  get(name: CallerName): Promise<Caller> {
    const caller = this.#callers.get(name) ?? this.#makeAtLast(name);
    this.#callers.set(name, caller);
    return caller;
  }

  /** What other requests do may come in between. */
  async #makeAtLast(name: CallerName): Promise<Caller> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#make(name);
      } catch (error) {
        if (tries === triesMax) throw error;
      }
    }
  }

  /** Its token was refused: the next request has another. */
  renew(name: CallerName): void {
    this.#callers.delete(name);
  }

  async #make(name: CallerName): Promise<Caller> {
    const { origin, db } = this.#mandate;
    switch (name) {
      case 'anonymous':
        return { token: undefined, scopes: [] };
      case 'nobody':
        return { token: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.', scopes: [] };
      case 'customer':
      case 'other customer':
        return this.#person(ofCustomers);
      case 'reader':
        return this.#person(['users.read']);
      case 'administrator': {
        const person = await signUpAs(db, origin, 'admin');
        return { token: (await tokensFor(origin, person, ofStaff)).access_token, scopes: ofStaff };
      }
      case 'former staff': {
        const person = await signUpAs(db, origin, 'staff');
        const { access_token: token } = await tokensFor(origin, person, ofCustomers);
        await db.em.fork().execute(`update users set role = 'customer' where id = ?`, [person.id]);
        return { token, scopes: ofCustomers, userId: person.id };
      }
      case 'application':
        return this.#application(ofStaff);
      case 'key keeper':
        return this.#application([rotates]);
      case 'API key':
      case 'revoked API key':
        return this.#apiKey(name === 'API key');
      default:
        return name satisfies never;
    }
  }

  async #application(allowed: readonly Scope[]): Promise<Caller> {
    const { origin, db } = this.#mandate;
    return { token: await clientCredentials(origin, await confidentialClient(db, allowed), allowed), scopes: allowed };
  }

  async #person(allowed: readonly Scope[]): Promise<Caller> {
    const { origin } = this.#mandate;
    const person = await signUp(origin);
    return { token: (await tokensFor(origin, person, allowed)).access_token, scopes: allowed, userId: person.id };
  }

  async #apiKey(isGood: boolean): Promise<Caller> {
    const { origin } = this.#mandate;
    const allowed: readonly Scope[] = ['orders.read', 'orders.write', 'payments.read', 'events.read'];
    const person = await signUp(origin);
    const { access_token: token } = await tokensFor(origin, person, [...allowed, 'api_keys.manage']);
    const body = { name: 'Key', scopes: allowed };
    const made = apiKey.parse((await this.#mandate.call('POST', '/api/v1/api-keys', { token, body })).body);
    if (!isGood) await this.#mandate.call('DELETE', `/api/v1/api-keys/${made.id}`, { token });
    return { token: made.key, scopes: isGood ? allowed : [], userId: person.id };
  }
}
