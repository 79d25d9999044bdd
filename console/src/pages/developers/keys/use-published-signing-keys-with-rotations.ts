import type { AuditEvent } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import { queries } from '../../../api/client.ts';
import { usePermissions } from '../../../api/permissions.tsx';
import { consoleEnvironment } from '../../../console-environment.ts';

export type PublishedSigningKey = { readonly kid: string; readonly alg: string };

/** A published key. The creation time comes from the audit log, so it is undefined for users without permission to read the audit log. */
export type SigningKey = PublishedSigningKey & { readonly createdAt: string | undefined; readonly reason: string | undefined };

/** Returns the published signing keys. A key's creation time comes from the audit event for the rotation that created the key. */
export function usePublishedSigningKeysWithRotations() {
  const canReadAudit = usePermissions().can('auditEvents.list');
  const published = useQuery({ queryKey: ['signing keys'], queryFn: ({ signal }) => fetchPublishedKeys(signal) });
  const { data: rotations } = useQuery({
    ...queries.auditEvents.list({ action: ['signing_key.rotated'], limit: 100 }),
    enabled: canReadAudit,
  });
  const keys = published.data?.map((key): SigningKey => {
    const rotation = rotations?.data.find((event) => keyIdsOf(event).includes(key.kid));
    const reason = rotation?.details['when'];
    return { ...key, createdAt: rotation?.occurred_at, reason: typeof reason === 'string' ? reason : undefined };
  });
  return { keys: keys?.toSorted((a, b) => a.alg.localeCompare(b.alg) || (b.createdAt ?? '').localeCompare(a.createdAt ?? '')), published };
}

function keyIdsOf({ details }: AuditEvent): readonly unknown[] {
  const ids = details['keys'];
  return Array.isArray(ids) ? ids : [];
}

/** Fetches the keys of the authorization server (RFC 7517). */
async function fetchPublishedKeys(signal: AbortSignal): Promise<PublishedSigningKey[]> {
  const metadata = await fetchJson(`${consoleEnvironment.issuer}/.well-known/openid-configuration`, signal);
  const { keys } = await fetchJson(String(metadata['jwks_uri']), signal);
  return Array.isArray(keys) ? keys.filter(isPublishedKey) : [];
}

async function fetchJson(url: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
  const body: unknown = await response.json();
  return typeof body === 'object' && body !== null ? { ...body } : {};
}

const isPublishedKey = (key: unknown): key is PublishedSigningKey =>
  typeof key === 'object' && key !== null && 'kid' in key && typeof key.kid === 'string' && 'alg' in key && typeof key.alg === 'string';
