import { initServer } from '@ts-rest/express';
import { type ApiVersion, type ApiVersionResponse, contract, currentApiVersion } from '@mandate/contract';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';

export type VersionDependencies = {
  /** The API versions that this installation serves. */
  readonly apiVersions: readonly ApiVersion[];
  readonly now: () => Date;
};

type Dependencies = Pick<HandlerDependencies, 'pages'> & VersionDependencies;

export const apiVersionRoutes = (dependencies: Dependencies) =>
  initServer().router(contract.versions, {
    list: (request) => handleListVersions(dependencies, request),
  });

const handleListVersions: RouteHandler<typeof contract.versions.list, Dependencies> = async (
  { pages, apiVersions, now },
  { query, req, res },
) => {
  const numbered = apiVersions.map((version, index) => ({ version, number: index + 1 }));
  const [, after = 0] = pages.decodeCursor(req, query) ?? [];
  const rows = numbered.filter(({ number }) => number > after);
  const toItem = ({ version }: (typeof rows)[number]): ApiVersionResponse => versionResponseFromApiVersion(version, now());
  return { status: 200, body: pages.respondWithPage(req, res, query, rows, toItem, ({ version, number }) => [version.name, number]) };
};

export const versionResponseFromApiVersion = ({ name, preview, deprecated }: ApiVersion, now: Date): ApiVersionResponse => ({
  version: name,
  status: versionStatus(name, preview ?? false, deprecated, now),
  deprecated_at: toTimestampOrNull(deprecated?.since),
  sunset_at: toTimestampOrNull(deprecated?.sunset),
});

function versionStatus(name: string, preview: boolean, deprecated: ApiVersion['deprecated'], now: Date): ApiVersionResponse['status'] {
  if (deprecated?.sunset !== undefined && new Date(deprecated.sunset) <= now) return 'retired';
  if (deprecated && new Date(deprecated.since) <= now) return 'deprecated';
  if (preview) return 'preview';
  return name === currentApiVersion ? 'current' : 'supported';
}

const toTimestampOrNull = (date: string | undefined): string | null => (date === undefined ? null : new Date(date).toISOString());
