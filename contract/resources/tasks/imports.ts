import { z } from 'zod';
import { fileMediaTypes } from './tasks.ts';
import { foreignName } from '../../schema/text.ts';

/** Largest row of an imported file, in bytes. The file itself has no limit. */
export const importRowMax = 100_000;
/** Most rows of one order that an import reads; valid lines have the lower limit `orderLinesMax`. */
export const importOrderRowsMax = 10_000;
/** Slowest accepted upload on average, in bytes per second, after a grace period in seconds. */
export const slowestUpload = { bytesPerSecond: 100_000, graceSeconds: 30 } as const;

/** The limits of an imported file in words, for the description of the operation and the help of the command. */
export const uploadLimits = `A file may have any size and any number of rows: only the disk of the service limits it. A row has at most ${importRowMax} bytes, and the upload must average at least ${slowestUpload.bytesPerSecond} bytes per second after its first ${slowestUpload.graceSeconds} seconds.`;

/** The file itself, as it is: CSV with a header, or one JSON object per line. Nothing reads it as a whole. */
export const upload = z.custom<string | Uint8Array | Blob | ReadableStream<Uint8Array>>();

export const uploadMetadata = { consumes: [fileMediaTypes.csv, fileMediaTypes.ndjson], bodyMax: Number.POSITIVE_INFINITY } as const;

export const importQuery = {
  dry_run: z.enum(['true', 'false']).default('false').describe('`true` only finds out what the import would do; nothing is changed.'),
  amounts: z
    .enum(['minor', 'decimal'])
    .default('minor')
    .describe('How the file writes money: in minor units (`1205`), or as a decimal number of the currency (`12.05`).'),
};

/** Which column of the file each field is in, where it is not called like the field: `sku_column=StockCode`. */
export function columnsFor<const Fields extends readonly string[]>(fields: Fields) {
  const entries = fields.map((field) => [
    `${field}_column`,
    foreignName(200).default(field).describe(`Name of the column with \`${field}\`, in the header or as a key.`),
  ]);
  // Object.fromEntries forgets the names; the return type is that knowledge.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(entries) as Record<`${Fields[number]}_column`, z.ZodDefault<ReturnType<typeof foreignName>>>;
}
