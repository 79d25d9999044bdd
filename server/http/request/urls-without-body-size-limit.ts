import { contract, getRouteMetadata, listRoutes } from '@mandate/contract';

const uploadSegments = new Set(
  listRoutes(contract).flatMap((route) => (getRouteMetadata(route).bodyMax === Number.POSITIVE_INFINITY ? [lastSegment(route.path)] : [])),
);

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/'));
}

/** Returns whether a URL is an operation without a body size limit, in any version of the API. */
export const isUrlWithoutBodySizeLimit = (url = ''): boolean => uploadSegments.has(lastSegment(url.split(/[?#]/, 1)[0] ?? ''));
