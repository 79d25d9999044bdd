import { type Scope, scopeNames, scopeDefinitions } from '@mandate/contract';
import { z } from 'zod';
import type { MandateServer } from '../support/server/start-mandate.ts';
import { obtainClientToken, createConfidentialClient, signUp, signUpWithRole, obtainTokens } from '../support/oauth/oauth-flow.ts';

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
  'signing key manager',
  'forged token',
] as const;
export type CallerName = (typeof callerNames)[number];

export type Caller = {
  readonly token: string | undefined;
  /** Scopes of the token, if the token is valid. */
  readonly scopes: readonly string[];
  /** User whose data the caller may see; undefined if the caller may see all users' data. */
  readonly userId?: number;
};

/** A caller with this scope can invalidate the tokens of all callers, so few requests use this scope. */
const keyManagementScope: Scope = 'signing_keys.manage';
const customerScopes = scopeNames.filter((name) => !scopeDefinitions[name].admin);
const staffScopes = scopeNames.filter((name) => name !== keyManagementScope);

const attemptsMax = 5;
const apiKey = z.object({ id: z.number(), key: z.string() });

/** All API callers. Each caller can be created again, because requests can revoke any caller's access. */
export class Callers {
  readonly #mandate: MandateServer;
  readonly #callers = new Map<CallerName, Promise<Caller>>();

  constructor(mandate: MandateServer) {
    this.#mandate = mandate;
  }

  get(name: CallerName): Promise<Caller> {
    const caller = this.#callers.get(name) ?? this.#createWithRetries(name);
    this.#callers.set(name, caller);
    return caller;
  }

  /** Retries, because concurrent requests can interfere with the creation of a caller. */
  async #createWithRetries(name: CallerName): Promise<Caller> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await this.#create(name);
      } catch (error) {
        if (attempts === attemptsMax) throw error;
      }
    }
  }

  /** Discards a caller whose token was rejected, so that the next request gets a new caller. */
  discard(name: CallerName): void {
    this.#callers.delete(name);
  }

  async #create(name: CallerName): Promise<Caller> {
    const { origin, db } = this.#mandate;
    switch (name) {
      case 'anonymous':
        return { token: undefined, scopes: [] };
      case 'forged token':
        return { token: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.', scopes: [] };
      case 'customer':
      case 'other customer':
        return this.#createUserCaller(customerScopes);
      case 'reader':
        return this.#createUserCaller(['users.read']);
      case 'administrator': {
        const user = await signUpWithRole(db, origin, 'admin');
        return { token: (await obtainTokens(origin, user, staffScopes)).access_token, scopes: staffScopes };
      }
      case 'former staff': {
        const user = await signUpWithRole(db, origin, 'staff');
        const { access_token: token } = await obtainTokens(origin, user, customerScopes);
        await db.em.fork().execute(`update users set role = 'customer' where id = ?`, [user.id]);
        return { token, scopes: customerScopes, userId: user.id };
      }
      case 'application':
        return this.#createApplicationCaller(staffScopes);
      case 'signing key manager':
        return this.#createApplicationCaller([keyManagementScope]);
      case 'API key':
      case 'revoked API key':
        return this.#apiKey(name === 'API key');
      default:
        return name satisfies never;
    }
  }

  async #createApplicationCaller(allowed: readonly Scope[]): Promise<Caller> {
    const { origin, db } = this.#mandate;
    return { token: await obtainClientToken(origin, await createConfidentialClient(db, allowed), allowed), scopes: allowed };
  }

  async #createUserCaller(allowed: readonly Scope[]): Promise<Caller> {
    const { origin } = this.#mandate;
    const user = await signUp(origin);
    return { token: (await obtainTokens(origin, user, allowed)).access_token, scopes: allowed, userId: user.id };
  }

  async #apiKey(isValid: boolean): Promise<Caller> {
    const { origin } = this.#mandate;
    const allowed: readonly Scope[] = ['orders.read', 'orders.write', 'payments.read', 'events.read'];
    const user = await signUp(origin);
    const { access_token: token } = await obtainTokens(origin, user, [...allowed, 'api_keys.manage']);
    const body = { name: 'Key', scopes: allowed };
    const created = apiKey.parse((await this.#mandate.callApi('POST', '/api/v1/api-keys', { token, body })).body);
    if (!isValid) await this.#mandate.callApi('DELETE', `/api/v1/api-keys/${created.id}`, { token });
    return { token: created.key, scopes: isValid ? allowed : [], userId: user.id };
  }
}
