import type { Adapter, AdapterPayload } from 'oidc-provider';

const records = new Map<string, AdapterPayload>();
const grantRecords = new Map<string, Set<string>>();
const sessionsByUid = new Map<string, string>();

/**
 * In-memory storage for `oidc-provider`. The library's default storage keeps only the 1,000 newest records, fewer than the sessions, grants
 * and tokens of 1,000 customers. Expired records are not removed, because a run is short.
 */
export class UnlimitedMemoryAdapter implements Adapter {
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  #key(id: string): string {
    return `${this.#model}:${id}`;
  }

  upsert(id: string, payload: AdapterPayload): Promise<void> {
    const key = this.#key(id);
    records.set(key, payload);
    if (payload.uid !== undefined) sessionsByUid.set(payload.uid, id);
    if (payload.grantId !== undefined && this.#model !== 'Session') {
      const members = grantRecords.get(payload.grantId) ?? new Set();
      grantRecords.set(payload.grantId, members.add(key));
    }
    return Promise.resolve();
  }

  find(id: string): Promise<AdapterPayload | undefined> {
    return Promise.resolve(records.get(this.#key(id)));
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.find(sessionsByUid.get(uid) ?? '');
  }

  /** The benchmark does not use the device flow. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async consume(id: string): Promise<void> {
    const payload = await this.find(id);
    if (payload) payload.consumed = Math.floor(Date.now() / 1000);
  }

  destroy(id: string): Promise<void> {
    records.delete(this.#key(id));
    return Promise.resolve();
  }

  revokeByGrantId(grantId: string): Promise<void> {
    for (const key of grantRecords.get(grantId) ?? []) records.delete(key);
    grantRecords.delete(grantId);
    return Promise.resolve();
  }
}
