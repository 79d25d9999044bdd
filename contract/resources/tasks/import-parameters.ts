import { z } from 'zod';
import { fileMediaTypes } from './tasks.ts';
import { nameFromOtherSystemSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

/** Maximum size of a row in an imported file, in bytes. The size of the file is not limited. */
export const maxImportRowBytes = 100_000;
/** Maximum number of rows that an import reads for one order. The maximum number of valid lines (`maxOrderLines`) is lower. */
export const maxImportRowsPerOrder = 10_000;
/** Minimum average upload rate, enforced after a grace period. */
export const minUploadRate = { bytesPerSecond: 100_000, graceSeconds: 30 } as const;

/** Describes the limits for imported files, for the API reference and the command help. */
export const importFileLimitsText = `The file size and the number of rows are limited only by the disk space of the service. A row can be at most ${maxImportRowBytes} bytes long. After the first ${minUploadRate.graceSeconds} seconds, the upload must average at least ${minUploadRate.bytesPerSecond} bytes per second.`;

/** The body of an import: CSV with a header, or one JSON object per line. The body is streamed and never held in memory as a whole. */
export const importFileBodySchema = z.custom<string | Uint8Array | Blob | ReadableStream<Uint8Array>>();

export const importFileRouteMetadata = {
  consumes: [fileMediaTypes.csv, fileMediaTypes.ndjson],
  bodyMax: Number.POSITIVE_INFINITY,
} as const;

export const importDryRunParameter = {
  dry_run: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true` checks the file and reports what the import would do, without changing anything.'),
};

/** Name of the system from which a file was exported. */
export const importSourceSystemSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be 1 to 64 characters from a-z, 0-9, `.`, `_` and `-`');

export const importUtcOffsetSchema = z
  .string()
  .regex(/^(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/, 'must be `Z` or an offset such as `+01:00`')
  .default('Z')
  .describe('UTC offset of timestamps that do not specify one.');

export const importDryRunAndAmountFormatParameters = {
  ...importDryRunParameter,
  amounts: z
    .enum(['minor', 'decimal'])
    .default('minor')
    .describe('Format of amounts in the file: minor units (`1205`) or decimal numbers (`12.05`).'),
};

/**
 * Returns one query parameter for each field, such as `sku_column=StockCode`. The parameter specifies the column that contains the field
 * (default: the field name).
 */
export function createImportColumnNameParameters<const Fields extends readonly string[]>(fields: Fields) {
  const entries = fields.map((field) => [
    `${field}_column`,
    nameFromOtherSystemSchema(200).default(field).describe(`Name of the CSV column or JSON key to read as \`${field}\`.`),
  ]);
  // The return type of Object.fromEntries() does not contain the parameter names; the type assertion adds them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(entries) as Record<`${Fields[number]}_column`, z.ZodDefault<ReturnType<typeof nameFromOtherSystemSchema>>>;
}
