import { contract, metadataOf, routesOf } from '@mandate/contract';

const names = new Set(
  routesOf(contract).flatMap((route) => (metadataOf(route).bodyMax === Number.POSITIVE_INFINITY ? [lastSegment(route.path)] : [])),
);

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/'));
}

/** Whether a URL is that of an operation that takes a file of any size, in any version of the API. */
export const isUpload = (url = ''): boolean => names.has(lastSegment(url.split(/[?#]/, 1)[0] ?? ''));
