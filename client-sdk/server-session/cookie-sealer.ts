import { decodeBase64url, encodeBase64url } from '../core/base64url.ts';

/** A decrypted cookie value. */
export type UnsealedCookie = {
  readonly value: unknown;
  /** Expiration time, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
};

/** Encrypts cookie values, so that the browser can neither read nor change them. */
export type CookieSealer = {
  /** Encrypts a value with the first secret. The cookie name is authenticated with the value, so that one cookie cannot replace another. */
  seal(cookieName: string, cookie: UnsealedCookie): Promise<string>;
  /** Decrypts a value with the secret that encrypted it. Returns `undefined` for an invalid or expired value. */
  unseal(cookieName: string, sealed: string): Promise<UnsealedCookie | undefined>;
};

const minimumSecretLength = 32;
const [saltLength, ivLength] = [16, 12];

/** Creates a sealer that uses AES-256-GCM, with a new key for each value (HKDF-SHA-256 with a random salt). */
export function createCookieSealer(secrets: readonly string[]): CookieSealer {
  if (secrets.length === 0 || secrets.some(({ length }) => length < minimumSecretLength)) {
    throw new TypeError(
      `cookieSecrets must contain secrets of at least ${minimumSecretLength} characters; create one with "openssl rand -base64 32"`,
    );
  }
  // The keys are imported on first use, because Cloudflare Workers do not allow asynchronous work before the first request.
  let imported: Promise<MasterKey[]> | undefined;
  const importKeys = (): Promise<MasterKey[]> => (imported ??= Promise.all(secrets.map(importMasterKey)));
  return {
    async seal(cookieName, cookie) {
      const [key] = await importKeys();
      if (!key) throw new Error('the first secret was not imported');
      const salt = crypto.getRandomValues(new Uint8Array(saltLength));
      const iv = crypto.getRandomValues(new Uint8Array(ivLength));
      const plaintext = new TextEncoder().encode(JSON.stringify(cookie));
      const ciphertext = await crypto.subtle.encrypt(gcmParameters(cookieName, iv), await deriveKey(key, salt), plaintext);
      return encodeBase64url(new Uint8Array([...salt, ...iv, ...new Uint8Array(ciphertext)]));
    },
    async unseal(cookieName, sealed) {
      const bytes = decodeBase64url(sealed);
      if (!bytes) return undefined;
      const [salt, iv] = [bytes.slice(0, saltLength), bytes.slice(saltLength, saltLength + ivLength)];
      for (const key of await importKeys()) {
        const decrypted = await decrypt(cookieName, iv, await deriveKey(key, salt), bytes.slice(saltLength + ivLength));
        if (decrypted) return decrypted.expiresAt > Date.now() ? decrypted : undefined;
      }
      return undefined;
    },
  };
}

/** The `CryptoKey` type, inferred from a function because platforms declare it under different names. */
type MasterKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const importMasterKey = (secret: string): Promise<MasterKey> =>
  crypto.subtle.importKey('raw', new TextEncoder().encode(secret), 'HKDF', false, ['deriveKey']);

const deriveKey = (key: MasterKey, salt: Uint8Array<ArrayBuffer>): Promise<MasterKey> =>
  crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt, info: new TextEncoder().encode('mandate sealed cookie') },
    key,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  );

const gcmParameters = (cookieName: string, iv: Uint8Array<ArrayBuffer>) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(cookieName),
});

async function decrypt(
  cookieName: string,
  iv: Uint8Array<ArrayBuffer>,
  key: MasterKey,
  ciphertext: Uint8Array<ArrayBuffer>,
): Promise<UnsealedCookie | undefined> {
  try {
    const plaintext = await crypto.subtle.decrypt(gcmParameters(cookieName, iv), key, ciphertext);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `seal` can create a value that this key decrypts
    return JSON.parse(new TextDecoder().decode(plaintext)) as UnsealedCookie;
  } catch {
    return undefined;
  }
}
