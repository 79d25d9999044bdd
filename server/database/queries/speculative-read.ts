import type { BatchedLookup } from './batched-statement.ts';
import type { StatementParameters } from './batch-loader.ts';

/** A lookup that a request is expected to need after its token has been verified. */
export type ExpectedLookup<Row = unknown> = { readonly lookup: BatchedLookup<Row>; readonly parameters: StatementParameters };

/** Result of an expected lookup that was part of the statement that verified the request's token. */
export type SpeculativeRead<Row = unknown> = ExpectedLookup<Row> & { readonly row: Row | undefined };

/**
 * Returns the result of the speculative read if that read was this lookup with these parameters. The parameters contain the caller's
 * permissions, so a result is never used if its permissions differ from those of the verified token.
 */
export function getSpeculativeResultIfSameLookup<Row>(
  read: SpeculativeRead | undefined,
  lookup: BatchedLookup<Row>,
  parameters: StatementParameters,
): { readonly row: Row | undefined } | undefined {
  const isSame = read?.lookup === lookup && read.parameters.every((value, index) => value === parameters[index]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same lookup gives rows of the same type
  return isSame ? (read as SpeculativeRead<Row>) : undefined;
}
