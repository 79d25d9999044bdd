import { initServer } from '@ts-rest/express';
import { type ApiVersion, type ApiVersionAnswer, contract, currentApiVersion } from '@mandate/contract';

export type VersionDeps = {
  /** The versions this installation serves. */
  readonly apiVersions: readonly ApiVersion[];
  readonly now: () => Date;
};

export const versionRoutes = ({ apiVersions, now }: VersionDeps) =>
  initServer().router(contract.versions, {
    list: async () => ({ status: 200, body: { data: apiVersions.map((version) => answerOf(version, now())) } }),
  });

const answerOf = ({ name, preview, deprecated }: ApiVersion, now: Date): ApiVersionAnswer => ({
  version: name,
  status: statusOf(name, preview ?? false, deprecated, now),
  deprecated_at: instantOrNull(deprecated?.since),
  sunset_at: instantOrNull(deprecated?.sunset),
});

function statusOf(name: string, preview: boolean, deprecated: ApiVersion['deprecated'], now: Date): ApiVersionAnswer['status'] {
  if (deprecated?.sunset !== undefined && new Date(deprecated.sunset) <= now) return 'retired';
  if (deprecated && new Date(deprecated.since) <= now) return 'deprecated';
  if (preview) return 'preview';
  return name === currentApiVersion ? 'current' : 'supported';
}

const instantOrNull = (moment: string | undefined): string | null => (moment === undefined ? null : new Date(moment).toISOString());
