import { maxMetadataPairs } from '@mandate/contract';
import { createInvalidRequestProblem } from '../problem-details/problem.ts';
import { translatable } from '../problem-details/translatable-text.ts';

type Metadata = Readonly<Record<string, string>>;

/**
 * Applies a merge patch (RFC 7396 section 2) to a resource's metadata. Keys that are not in the patch stay unchanged, and `null` removes a
 * key. The row must be locked, so that two concurrent patches do not overwrite each other.
 * @throws {Problem} `invalid_request` if the result has too many pairs
 */
export function applyMetadataMergePatch(current: Metadata, patch: Readonly<Record<string, string | null>>): Metadata {
  const merged = Object.entries({ ...current, ...patch }).filter((pair): pair is [string, string] => pair[1] !== null);
  if (merged.length > maxMetadataPairs) {
    throw createInvalidRequestProblem({
      in: 'body',
      pointer: '#/metadata',
      code: 'out_of_range',
      detail: translatable`The merged metadata would have ${{ count: merged.length }} key-value pairs; at most ${{ maximum: maxMetadataPairs }} are allowed. Remove keys by setting them to null.`,
    });
  }
  return Object.fromEntries(merged);
}
