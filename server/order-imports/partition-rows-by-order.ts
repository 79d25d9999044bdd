import { hash } from 'node:crypto';
import { z } from 'zod';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { type ImportFileRow, startOfFilePosition } from '../imports/import-row-types-and-cell-normalization.ts';
import { appendToStoredFile, readStoredFileChunks, createStoredFile } from '../tasks/stored-task-file.ts';
import { addRowToOrderRowGroup, type OrderRowGroup, createEmptyOrderRowGroup } from './group-order-rows.ts';

/** Target size of a partition in bytes. A partition is held in memory while its orders are imported. */
const partitionBytes = 8 * 1024 * 1024;
/** Maximum number of buffered characters per partition before the buffer is written. */
const bufferMax = 64 * 1024;

/** Returns a 48-bit hash of a reference. Two references can have the same hash. */
export const hashOrderReference = (reference: string): number => hash('sha1', reference, 'buffer').readUIntBE(0, 6);

class Partition {
  readonly fileId: number;
  readonly #em: EntityManager;
  #position = 0;
  #size = 0;
  #rows: string[] = [];

  constructor(em: EntityManager, fileId: number) {
    this.#em = em;
    this.fileId = fileId;
  }

  async add(row: string): Promise<void> {
    this.#rows.push(row);
    this.#size += row.length;
    if (this.#size >= bufferMax) await this.flush();
  }

  async flush(): Promise<void> {
    this.#position = await appendToStoredFile(this.#em, this.fileId, this.#position, Buffer.from(this.#rows.join('')));
    [this.#rows, this.#size] = [[], 0];
  }
}

/**
 * Distributes a file's rows across stored files that each fit into memory, with all rows of an order in the same file. This function is
 * needed if the rows of an order are not adjacent. Returns the IDs of the stored files.
 * @param bytes file size
 * @param columns the columns to keep; the first one contains the reference
 */
export async function storeRowsInPartitionsByOrder(
  em: EntityManager,
  records: AsyncIterable<ImportFileRow>,
  bytes: number,
  columns: readonly [string, ...string[]],
): Promise<number[]> {
  const count = Math.max(1, Math.ceil(bytes / partitionBytes));
  const partitions = await Promise.all(Array.from({ length: count }, async () => new Partition(em, await createStoredFile(em))));
  for await (const { line, cells, error } of records) {
    const reference = cells.get(columns[0]);
    const number = reference === undefined ? line : hashOrderReference(reference);
    const values = columns.map((column) => cells.get(column) ?? null);
    await partitions[number % count]?.add(`${JSON.stringify([line, error ?? null, ...values])}\n`);
  }
  for (const partition of partitions) await partition.flush();
  return partitions.map(({ fileId }) => fileId);
}

const storedRow = z.tuple([z.number(), z.string().nullable()]).rest(z.string().nullable());

/** Returns the row groups of a partition, sorted by the file position of their last row. */
export async function readOrderRowGroupsOfPartition(
  em: EntityManager,
  fileId: number,
  columns: readonly [string, ...string[]],
): Promise<OrderRowGroup[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of readStoredFileChunks(em, fileId)) chunks.push(chunk);
  const named = new Map<string, ReturnType<typeof createEmptyOrderRowGroup>>();
  const unnamed: OrderRowGroup[] = [];
  for (const row of Buffer.concat(chunks).toString('utf8').split('\n').slice(0, -1)) {
    const record = recordFromRow(row, columns);
    const reference = record.cells.get(columns[0]);
    if (reference === undefined) {
      unnamed.push({ reference, records: [record], rows: 1 });
      continue;
    }
    const invoice = named.get(reference) ?? createEmptyOrderRowGroup(reference);
    addRowToOrderRowGroup(invoice, record);
    named.set(reference, invoice);
  }
  return [...named.values(), ...unnamed].toSorted((a, b) => lastLine(a) - lastLine(b));
}

function recordFromRow(row: string, columns: readonly string[]): ImportFileRow {
  const [line, error, ...values] = storedRow.parse(JSON.parse(row));
  const cells = new Map(columns.flatMap((column, at) => (values[at] == null ? [] : [[column, values[at]] as const])));
  return { line, cells, ...(error !== null && { error }), end: startOfFilePosition };
}

const lastLine = ({ records }: OrderRowGroup): number => records.at(-1)?.line ?? 0;
