import { randomUUID } from 'node:crypto';

/** The system keyring: macOS Keychain, Windows Credential Manager, or the Secret Service of a Linux desktop. */
export type SystemKeyring = {
  get(account: string): Promise<string | undefined>;
  set(account: string, secret: string): Promise<void>;
  remove(account: string): Promise<void>;
};

const service = 'mandate';
/** Maximum wait for a locked keyring, which may prompt the user to unlock it. */
const waitMaxMs = 3_000;

/** Opens the system keyring. Rejects if the system has no keyring. The native module for the keyring is loaded only when needed. */
export async function openSystemKeyring(): Promise<SystemKeyring> {
  const { AsyncEntry } = await import('@napi-rs/keyring');
  // Without this option, the module falls back to the kernel keyring, which does not survive a restart.
  const openEntry = (account: string) => new AsyncEntry(service, account, { linux: { store: 'secret-service' } });
  return {
    get: async (account) => (await openEntry(account).getPassword(timeout())) ?? undefined,
    set: (account, secret) => openEntry(account).setPassword(secret, timeout()),
    remove: async (account) => void (await openEntry(account).deleteCredential(timeout())),
  };
}

const timeout = (): AbortSignal => AbortSignal.timeout(waitMaxMs);

/** Checks that the keyring stores, returns and deletes a secret, because some keyrings accept a secret without storing it. */
export async function isSystemKeyringUsable(open: () => Promise<SystemKeyring>): Promise<boolean> {
  const account = `probe ${randomUUID()}`;
  try {
    const keyring = await open();
    await keyring.set(account, 'probe');
    const stored = await keyring.get(account);
    await keyring.remove(account);
    return stored === 'probe';
  } catch {
    return false;
  }
}
