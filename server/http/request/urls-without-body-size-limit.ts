import { contract, getRouteMetadata, listRoutes } from '@mandate/contract';

const uploadSegments = new Set(
  listRoutes(contract).flatMap((route) => (getRouteMetadata(route).bodyMax === Number.POSITIVE_INFINITY ? [lastSegment(route.path)] : [])),
);

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/'));
}

/** Returns whether a URL belongs to an operation without a body size limit, in any API version. */
export const isUrlWithoutBodySizeLimit = (url = ''): boolean => uploadSegments.has(lastSegment(url.split(/[?#]/, 1)[0] ?? ''));
