import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { findFreePort } from '../../support/network/free-port.ts';
import { stopProcessGroup } from '../../support/stop-process-group.ts';
import { waitUntil } from '../../support/wait-until.ts';

export const keycloakVersion = '26.7.3';

export type KeycloakUser = { readonly username: string; readonly email: string; readonly password: string };
type RealmOptions = {
  readonly clientSecret: string;
  readonly shopOrigin: string;
  readonly slug: string;
  readonly users: readonly KeycloakUser[];
};

const run = promisify(execFile);
const startTimeoutMs = 8 * 60_000;
const adminName = 'admin';

/** Returns the realm `shop` with one client. The client receives logout tokens, and tokens issued to the client must be DPoP-bound. */
const createRealm = ({ clientSecret, shopOrigin, slug, users }: RealmOptions) => ({
  realm: 'shop',
  enabled: true,
  sslRequired: 'none',
  clients: [
    {
      clientId: 'shop',
      secret: clientSecret,
      redirectUris: [`${shopOrigin}/sign-in/providers/${slug}/callback`],
      attributes: {
        'backchannel.logout.url': `${shopOrigin}/sign-in/providers/${slug}/logout`,
        'backchannel.logout.session.required': 'true',
        'dpop.bound.access.tokens': 'true',
        'pkce.code.challenge.method': 'S256',
      },
    },
  ],
  users: users.map(({ username, email, password }) => ({
    username,
    email,
    emailVerified: true,
    enabled: true,
    firstName: 'Paula',
    lastName: 'Keycloak',
    realmRoles: ['offline_access'],
    credentials: [{ type: 'password', value: password, temporary: false }],
  })),
});

/** A Keycloak server in development mode, with its database in memory. */
export class Keycloak implements AsyncDisposable {
  readonly #origin: string;
  readonly #adminPassword: string;
  readonly #stop: () => Promise<void>;

  private constructor(origin: string, adminPassword: string, stop: () => Promise<void>) {
    this.#origin = origin;
    this.#adminPassword = adminPassword;
    this.#stop = stop;
  }

  get issuer(): string {
    return `${this.#origin}/realms/shop`;
  }

  /** Downloads Keycloak with Maven into a folder, imports a realm, and waits until the server responds. */
  static async start(folder: string, realm: RealmOptions): Promise<Keycloak> {
    const artifact = `org.keycloak:keycloak-quarkus-dist:${keycloakVersion}:zip`;
    await run('mvn', ['--batch-mode', '--quiet', 'dependency:unpack', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`], {
      cwd: folder,
    });
    const home = join(folder, `keycloak-${keycloakVersion}`);
    await mkdir(join(home, 'data/import'), { recursive: true });
    await writeFile(join(home, 'data/import/realm.json'), JSON.stringify(createRealm(realm)));
    const [port, password] = [await findFreePort(), randomUUID()];
    const server = spawn(
      'sh',
      ['bin/kc.sh', 'start-dev', '--db=dev-mem', '--http-host=127.0.0.1', `--http-port=${port}`, '--import-realm'],
      {
        cwd: home,
        detached: true, // creates a process group, so that the test can stop both the script and its Java process
        env: {
          // oxlint-disable-next-line node/no-process-env -- Java and its location
          ...process.env,
          KC_BOOTSTRAP_ADMIN_USERNAME: adminName,
          KC_BOOTSTRAP_ADMIN_PASSWORD: password,
        },
      },
    );
    let output = '';
    for (const stream of [server.stdout, server.stderr])
      stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
    const stop = (): Promise<void> => stopProcessGroup(server, 'SIGKILL');
    const keycloak = new Keycloak(`http://127.0.0.1:${port}`, password, stop);
    try {
      await waitUntil(async () => server.exitCode !== null || (await keycloak.#isReady()), startTimeoutMs);
      if (server.exitCode !== null) throw new Error('Keycloak has exited');
    } catch (error) {
      await stop();
      throw new Error(`Keycloak does not start:\n${output}`, { cause: error });
    }
    return keycloak;
  }

  async #isReady(): Promise<boolean> {
    return fetch(`${this.issuer}/.well-known/openid-configuration`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Ends a user's sessions, as an administrator would; Keycloak then sends logout tokens. */
  async logOut(username: string): Promise<void> {
    await this.#callAdminApi('POST', `/users/${await this.#findUserId(username)}/logout`);
  }

  /** Disables a user, as an administrator would when an employee leaves. */
  async disable(username: string): Promise<void> {
    await this.#callAdminApi('PUT', `/users/${await this.#findUserId(username)}`, { enabled: false });
  }

  async #findUserId(username: string): Promise<string> {
    const response = await this.#callAdminApi('GET', `/users?exact=true&username=${username}`);
    const [user] = z.array(z.object({ id: z.string() })).parse(await response.json());
    if (!user) throw new Error(`Keycloak has no user ${username}`);
    return user.id;
  }

  async #callAdminApi(method: string, path: string, body?: object): Promise<Response> {
    const form = { grant_type: 'password', client_id: 'admin-cli', username: adminName, password: this.#adminPassword };
    const token = await fetch(`${this.#origin}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    const { access_token: accessToken } = z.object({ access_token: z.string() }).parse(await token.json());
    const response = await fetch(`${this.#origin}/admin/realms/shop${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`Keycloak responded to ${method} ${path} with ${response.status}: ${await response.text()}`);
    return response;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop();
  }
}
