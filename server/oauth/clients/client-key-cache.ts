import type { PublicJsonWebKey } from '@mandate/contract';
import { z } from 'zod';
import { parsePublicJwk, SecretKeyMaterialError, UnusableJwkError } from '../../applications/parse-public-jwk.ts';
import type { FetchedDocument } from '../../outgoing-http/fetch-third-party-document.ts';
import type { NetworkPolicy } from '../../outgoing-http/ssrf-protected-connection.ts';
import {
  fetchJsonDocument,
  clampedCacheSecondsFromHeaders,
  parseFetchedJsonDocument,
  UnusableDocumentError,
} from '../../outgoing-http/fetch-and-parse-json-document.ts';

/** The client whose keys are read, and the key ID in the header of the JWT to verify. */
export type ClientKeyLookup = { readonly clientId: string; readonly jwksUri: string; readonly kid: string | undefined };

type Keys = readonly PublicJsonWebKey[];
type CachedKeys = { readonly keys: Keys; readonly freshUntilMs: number };
type Entry = { readonly attemptedAtMs: number; readonly cached: CachedKeys | undefined; readonly failure: string | undefined };

const bytesMax = 50 * 1024;
const timeoutMs = 3_000;
const keysMax = 100;
const entriesMax = 1_000;
/** Minimum interval between two requests for a client's key set, even if the client's JWTs contain different key IDs. */
const refetchIntervalMs = 60_000;
/** How long expired keys remain usable if the client's key set cannot be fetched. */
const staleMs = 60 * 60_000;

/**
 * Caches the key sets that clients publish at their `jwks_uri`. If an assertion contains an unknown key ID or no key ID, the key set is
 * requested again, so that a client can replace its keys at any time. A key that a client no longer publishes is rejected when the cached
 * set has expired.
 */
export class ClientKeyCache {
  readonly #network: NetworkPolicy;
  readonly #now: () => number;
  /** Entries, least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<Entry>>();

  constructor(network: NetworkPolicy, now: () => number = () => Date.now()) {
    this.#network = network;
    this.#now = now;
  }

  /** @throws {UnusableDocumentError} if the keys cannot be fetched or none of them can be used */
  async load(lookup: ClientKeyLookup): Promise<Keys> {
    const id = `${lookup.clientId} ${lookup.jwksUri}`;
    const known = this.#entries.get(id);
    const entry = known && !this.#needsRequest(known, lookup.kid) ? known : await this.#fetchOnce(id, lookup.jwksUri, known);
    this.#store(id, entry);
    const { cached, failure, attemptedAtMs } = entry;
    const isUsable = cached !== undefined && this.#now() < cached.freshUntilMs + staleMs;
    if (isUsable && (failure === undefined || hasKey(cached.keys, lookup.kid))) return cached.keys;
    const seconds = Math.max(1, Math.ceil((attemptedAtMs + refetchIntervalMs - this.#now()) / 1000));
    throw new UnusableDocumentError(`${failure ?? 'the cached keys have expired'} (the server requests it again in ${seconds} seconds)`);
  }

  #needsRequest({ attemptedAtMs, cached, failure }: Entry, kid: string | undefined): boolean {
    if (this.#now() < attemptedAtMs + refetchIntervalMs) return false;
    return cached === undefined || failure !== undefined || this.#now() >= cached.freshUntilMs || !hasKey(cached.keys, kid);
  }

  async #fetchOnce(id: string, jwksUri: string, known: Entry | undefined): Promise<Entry> {
    const pending = this.#pending.get(id) ?? this.#fetch(jwksUri, known).finally(() => this.#pending.delete(id));
    this.#pending.set(id, pending);
    return pending;
  }

  async #fetch(jwksUri: string, known: Entry | undefined): Promise<Entry> {
    const attemptedAtMs = this.#now();
    try {
      const document = await fetchJsonDocument({ url: jwksUri, totalMs: timeoutMs, bytesMax }, this.#network);
      const freshUntilMs = attemptedAtMs + clampedCacheSecondsFromHeaders(document, new Date(attemptedAtMs)) * 1000;
      return { attemptedAtMs, cached: { keys: parseKeySet(document), freshUntilMs }, failure: undefined };
    } catch (error) {
      if (!(error instanceof UnusableDocumentError)) throw error;
      return { attemptedAtMs, cached: known?.cached, failure: error.message };
    }
  }

  #store(id: string, entry: Entry): void {
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    const [leastRecentlyUsed] = this.#entries.keys();
    if (this.#entries.size > entriesMax && leastRecentlyUsed !== undefined) this.#entries.delete(leastRecentlyUsed);
  }
}

const hasKey = (keys: Keys, kid: string | undefined): boolean => kid !== undefined && keys.some((key) => key.kid === kid);

const keySetSchema = z.object({ keys: z.array(z.record(z.unknown())).min(1).max(keysMax) });

/** Returns the usable keys in a key set, which may also contain keys for other purposes. */
function parseKeySet(document: FetchedDocument): Keys {
  const parsed = keySetSchema.safeParse(parseFetchedJsonDocument(document));
  if (!parsed.success)
    throw new UnusableDocumentError(`the document is not a JSON Web Key Set: keys must be a list of 1 to ${keysMax} keys`);
  const reasons: string[] = [];
  const keys = parsed.data.keys.flatMap((jwk, index) => {
    try {
      return parsePublicJwk(jwk);
    } catch (error) {
      if (!(error instanceof UnusableJwkError)) throw error;
      const reason = `the key at position ${index + 1} ${error.message}`;
      if (error instanceof SecretKeyMaterialError) throw new UnusableDocumentError(reason, { cause: error });
      reasons.push(reason);
      return [];
    }
  });
  if (keys.length === 0) throw new UnusableDocumentError(`no key of the document can be used: ${reasons.join('; ').slice(0, 500)}`);
  return keys;
}
