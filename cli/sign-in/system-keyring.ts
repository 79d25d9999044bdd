import { randomUUID } from 'node:crypto';

/** The place where the system keeps secrets: macOS' keychain, Windows' credential manager, a desktop's secret service. */
export type Keyring = {
  get(account: string): Promise<string | undefined>;
  set(account: string, secret: string): Promise<void>;
  remove(account: string): Promise<void>;
};

const service = 'mandate';
/** A locked keyring may wait for somebody to unlock it. */
const waitMaxMs = 3_000;

/** Rejects where there is none. It is a native module, so it is loaded by the few commands that need it. */
export async function systemKeyring(): Promise<Keyring> {
  const { AsyncEntry } = await import('@napi-rs/keyring');
  // Without a secret service it would fall back to the kernel's keyring, which is gone after a restart.
  const entryOf = (account: string) => new AsyncEntry(service, account, { linux: { store: 'secret-service' } });
  return {
    get: async (account) => (await entryOf(account).getPassword(ending())) ?? undefined,
    set: (account, secret) => entryOf(account).setPassword(secret, ending()),
    remove: async (account) => void (await entryOf(account).deleteCredential(ending())),
  };
}

const ending = (): AbortSignal => AbortSignal.timeout(waitMaxMs);

/** Whether the keyring keeps, gives back and forgets: some accept a secret and have lost it a moment later. */
export async function isUsable(open: () => Promise<Keyring>): Promise<boolean> {
  const account = `probe ${randomUUID()}`;
  try {
    const keyring = await open();
    await keyring.set(account, 'kept');
    const kept = await keyring.get(account);
    await keyring.remove(account);
    return kept === 'kept';
  } catch {
    return false;
  }
}
