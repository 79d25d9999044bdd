import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Page } from '../browser/browser.ts';
import { openDocumentServer, type DocumentServer } from '../network/document-server.ts';
import { startMandate, type Body, type Mandate } from '../server/start-mandate.ts';
import { authorizationRequest, authorizePath, signUp, signUpAs, tokensFor, type Person } from './oauth-flow.ts';
import { needsOneProcess } from '../server/process-mode.ts';

/** Starts, for the tests of a file, a server that fetches client ID metadata documents from a test server. */
export class MetadataDocumentShop {
  documents!: DocumentServer;
  mandate!: Mandate;
  /** An access token of an administrator. */
  token!: string;
  /** A new user for each test, because rate limits apply per IP address. */
  anna!: Person;

  constructor() {
    needsOneProcess('the server fetches documents from loopback');
    beforeAll(async () => {
      this.documents = await openDocumentServer();
      this.mandate = await startMandate({ documentNetwork: this.documents.network });
      const administrator = await signUpAs(this.mandate.db, this.mandate.origin, 'admin');
      this.token = (await tokensFor(this.mandate.origin, administrator, ['applications.manage', 'audit.read'])).access_token;
    });
    beforeEach(async () => {
      this.anna = await signUp(this.mandate.origin);
    });
    afterAll(async () => {
      await this.mandate.close();
      await this.documents.close();
    });
  }

  em() {
    return this.mandate.db.em.fork();
  }

  /** Opens the authorization endpoint with a URL as the client ID. */
  open(clientId: string, parameters: Record<string, string> = {}, user = this.anna): Promise<Page> {
    return user.browser.open(authorizePath(authorizationRequest({ client_id: clientId, ...parameters }).query));
  }

  /** Returns the registered application with this client ID. */
  async registered(clientId: string): Promise<Body> {
    const { body } = await this.mandate.call('GET', '/api/v1/applications?limit=100', { token: this.token });
    return body.data.find((application: Body) => application.client_id === clientId);
  }

  async auditOf(clientId: string): Promise<Body[]> {
    const { body } = await this.mandate.call('GET', '/api/v1/audit-events?limit=100', { token: this.token });
    return body.data.filter(({ subject }: Body) => subject === `application:${clientId}`);
  }

  expire(clientId: string): Promise<unknown> {
    return this.em().execute('update applications set metadata_expires_at = now() where client_id = ?', [clientId]);
  }
}

export const newDocumentPath = (): string => `/${randomBytes(6).toString('hex')}.json`;
