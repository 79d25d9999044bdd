import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { HtmlPage } from '../browser/browser.ts';
import { startClientMetadataServer, type ClientMetadataServer } from '../network/client-metadata-server.ts';
import { startMandateServer, type JsonBody, type MandateServer } from '../server/start-mandate.ts';
import { buildAuthorizationRequest, authorizationPath, signUp, signUpWithRole, obtainTokens, type TestUser } from './oauth-flow.ts';
import { requireOneProcess } from '../server/process-mode.ts';

/** Starts a server that fetches client ID metadata documents from a test server. All tests in a file share this server. */
export class ClientMetadataFixture {
  metadataServer!: ClientMetadataServer;
  mandate!: MandateServer;
  /** An administrator's access token. */
  adminToken!: string;
  /** Each test uses a new user with a separate IP address, because rate limits apply per IP address. */
  anna!: TestUser;

  constructor() {
    requireOneProcess('the server fetches documents from loopback');
    beforeAll(async () => {
      this.metadataServer = await startClientMetadataServer();
      this.mandate = await startMandateServer({ documentNetwork: this.metadataServer.networkPolicy });
      const administrator = await signUpWithRole(this.mandate.db, this.mandate.origin, 'admin');
      this.adminToken = (await obtainTokens(this.mandate.origin, administrator, ['applications.manage', 'audit.read'])).access_token;
    });
    beforeEach(async () => {
      this.anna = await signUp(this.mandate.origin);
    });
    afterAll(async () => {
      await this.mandate.close();
      await this.metadataServer.close();
    });
  }

  forkEntityManager() {
    return this.mandate.db.em.fork();
  }

  /** Opens the authorization endpoint with a URL as the client ID. */
  openAuthorization(clientId: string, parameters: Record<string, string> = {}, user = this.anna): Promise<HtmlPage> {
    return user.browser.open(authorizationPath(buildAuthorizationRequest({ client_id: clientId, ...parameters }).query));
  }

  /** Returns the registered application with this client ID. */
  async findApplication(clientId: string): Promise<JsonBody> {
    const { body } = await this.mandate.callApi('GET', '/api/v1/applications?limit=100', { token: this.adminToken });
    return body.data.find((application: JsonBody) => application.client_id === clientId);
  }

  async readAuditEvents(clientId: string): Promise<JsonBody[]> {
    const { body } = await this.mandate.callApi('GET', '/api/v1/audit-events?limit=100', { token: this.adminToken });
    return body.data.filter(({ subject }: JsonBody) => subject === `application:${clientId}`);
  }

  expireMetadata(clientId: string): Promise<unknown> {
    return this.forkEntityManager().execute('update applications set metadata_expires_at = now() where client_id = ?', [clientId]);
  }
}

export const createDocumentPath = (): string => `/${randomBytes(6).toString('hex')}.json`;
