const removedField =
  'oasdiff only warns, because clients must expect that an optional field is absent. Clients that show the field when it is present would lose it, so fields are never removed within an API version.';
const removedParameter =
  'oasdiff only warns, because servers may ignore unknown parameters. This server rejects them, so clients that still send the parameter would fail.';

const changedOperationId =
  'oasdiff reports this only as information, because the ID is not part of a request. Generated clients name their methods after it.';

/** Reasons why oasdiff's verdicts differ from our compatibility check, keyed by the name and direction of the planted change. */
export const differenceReasons: Readonly<Record<string, string | undefined>> = {
  'remove an optional response field, made': removedField,
  'remove a field of a nullable object, made': removedField,
  'add an optional response field, reversed': removedField,
  'require a new query parameter, reversed': removedParameter,
  'remove a query parameter, made': removedParameter,
  'add an optional query parameter, reversed': removedParameter,
  'reject unknown request fields, made':
    'oasdiff does not report this change. Clients that send additional fields, which used to be ignored, would fail.',
  'declare another error, reversed':
    'oasdiff reports this only as information, because it does not count error responses as part of the contract. Clients that handle the error rely on it.',
  'change an operation ID, made': changedOperationId,
  'change an operation ID, reversed': changedOperationId,
};
