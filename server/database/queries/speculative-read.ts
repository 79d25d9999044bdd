import type { BatchedLookup } from './batched-statement.ts';
import type { StatementParameters } from './batch-loader.ts';

/** A lookup that a request is expected to need, once its token has been verified. */
export type ExpectedLookup<Row = unknown> = { readonly lookup: BatchedLookup<Row>; readonly parameters: StatementParameters };

/** The result of an expected lookup that was sent in one statement with the verification of the request's token. */
export type SpeculativeRead<Row = unknown> = ExpectedLookup<Row> & { readonly row: Row | undefined };

/**
 * Returns the result of a speculative read if it is the result of this lookup with these parameters. The parameters contain the caller's
 * permissions, so a read with other permissions than those of the verified token is never used.
 */
export function findSpeculativeResult<Row>(
  read: SpeculativeRead | undefined,
  lookup: BatchedLookup<Row>,
  parameters: StatementParameters,
): { readonly row: Row | undefined } | undefined {
  const isSame = read?.lookup === lookup && read.parameters.every((value, index) => value === parameters[index]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same lookup gives rows of the same type
  return isSame ? (read as SpeculativeRead<Row>) : undefined;
}
