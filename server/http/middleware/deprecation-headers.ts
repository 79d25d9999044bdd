import type { RequestHandler } from 'express';
import { type ApiVersion, type Deprecation, metadataOf } from '@mandate/contract';
import { problem } from '../problem-details/problem.ts';
import { routeOf } from '../request/matched-route.ts';

/**
 * Says of a deprecated operation, or of one in a deprecated version, since when it is (RFC 9745), when it ends (RFC 8594) and
 * where to read what to use instead; once it has ended it is gone.
 */
export const announceDeprecation =
  (versions: readonly ApiVersion[], now: () => Date): RequestHandler =>
  (req, res, next) => {
    const route = routeOf(req);
    const version = versions.find(({ name }) => route.path.startsWith(`/api/${name}/`));
    const deprecation = earlier(metadataOf(route).deprecated, version?.deprecated);
    if (!deprecation) return next();
    const { since, sunset, guide } = deprecation;
    const links = [`<${guide}>; rel="deprecation"; type="text/html"`];
    res.set('Deprecation', `@${Math.floor(Date.parse(since) / 1000)}`);
    if (sunset !== undefined) {
      links.push(`<${guide}>; rel="sunset"; type="text/html"`);
      res.set('Sunset', new Date(sunset).toUTCString());
    }
    res.append('Link', links);
    if (sunset === undefined || now() < new Date(sunset)) return next();
    throw problem('version_retired', { detail: `This ended on ${sunset.slice(0, 10)}. What to use instead: ${guide}` });
  };

/** An operation in a version that ends: what comes first counts. */
function earlier(one: Deprecation | undefined, other: Deprecation | undefined): Deprecation | undefined {
  if (!one || !other) return one ?? other;
  const since = Date.parse(one.since) <= Date.parse(other.since) ? one.since : other.since;
  return { ...(endOf(one) <= endOf(other) ? one : other), since };
}

const endOf = ({ sunset }: Deprecation): number => (sunset === undefined ? Infinity : Date.parse(sunset));
