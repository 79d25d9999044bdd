import type { ImportCounts } from '@mandate/contract';
import { z } from 'zod';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { appendToStoredFile, createStoredFile } from '../tasks/stored-task-file.ts';
import { toPermanentTaskErrorOrUndefined, PermanentTaskError } from '../tasks/permanent-task-error.ts';
import { initialImportCounts } from '../tasks/task-from-entity.ts';
import type { TaskOutcome, TaskAttempt } from '../tasks/task-attempt.ts';
import type { RowError } from './parse-import-cells-and-validate-row.ts';

/** The outcome of one imported item, and the issues found in its rows. */
export type ImportOutcome = { readonly outcome: keyof ImportCounts; readonly issues: readonly ImportIssue[] };
export type ImportIssue = { readonly line: number; readonly reference?: string } & RowError;

const positionSchema = z.object({
  /** End of the last processed row. */
  bytes: z.number(),
  lines: z.number(),
  /** Index of the current partition, and number of items already processed in this partition. */
  partition: z.number().optional(),
  pieces: z.number().optional(),
});
export type ImportPosition = z.output<typeof positionSchema>;

const surveySchema = z.object({
  /** Number of rows in the file. */
  total: z.number(),
  /** IDs of the stored files that contain the regrouped rows, if the rows cannot be imported in their original order. */
  partitions: z.array(z.number()).optional(),
});
export type FileCheckResult = z.output<typeof surveySchema>;

/**
 * Defines how a file is imported item by item. Every attempt must read the same items in the same order, so that an interrupted import can
 * be resumed.
 */
export type ImportDefinition<Item> = {
  readonly dryRun: boolean;
  /** Reads and checks the whole file before anything is changed. */
  readonly checkFile: () => Promise<FileCheckResult>;
  /** Reads the items after a position, and returns each item with the position after the item. */
  readonly readItems: (
    from: ImportPosition,
    survey: FileCheckResult,
  ) => AsyncIterable<{ readonly item: Item; readonly end: ImportPosition }>;
  /** Returns the number of rows in an item. */
  readonly countRows: (item: Item) => number;
  /** Returns the line number at which an item starts in the file. */
  readonly firstLine: (item: Item) => number | undefined;
  /**
   * Prepares a batch before its transaction starts, so that slow computations do not hold a database connection and locks. This function is
   * called again for the same items if the process stops before the items are imported.
   */
  readonly prepareItems?: (items: readonly Item[]) => Promise<Item[]>;
  readonly importItem: (em: EntityManager, item: Item) => Promise<ImportOutcome>;
  /** Imports several items with fewer statements, with the same results as `importItem`. */
  readonly importItems?: (em: EntityManager, items: readonly Item[]) => Promise<ImportOutcome[]>;
};

const countsSchema = z.object({
  created: z.number(),
  updated: z.number(),
  unchanged: z.number(),
  refused: z.number(),
  differing: z.number(),
});
const checkpointSchema = surveySchema.extend({
  fileId: z.number(),
  chunks: z.number(),
  remarks: z.number(),
  rows: z.number(),
  position: positionSchema,
  imported: countsSchema,
});
type Checkpoint = z.output<typeof checkpointSchema>;

/**
 * Number of rows per transaction. The number is small, so that the task holds locks only briefly and pauses soon after a request arrives.
 */
const batchRows = 100;

/** Imports the items one by one, starting at the checkpoint. The issues are written to the task's result file. */
export async function runImport<Item>(run: TaskAttempt, importing: ImportDefinition<Item>): Promise<TaskOutcome> {
  // A checkpoint from an earlier version cannot be read, so the import starts over. Items that were already imported stay unchanged.
  let checkpoint = checkpointSchema.safeParse(run.task.checkpoint).data ?? (await createCheckpoint(run, importing));
  let [batch, rows, end]: [Item[], number, ImportPosition] = [[], 0, checkpoint.position];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    const [from, items, position] = [checkpoint, (await importing.prepareItems?.(batch)) ?? batch, end];
    ({ checkpoint } = await run.step((em) => importBatch(em, importing, { ...from, position }, items, run.task.attempts)));
    [batch, rows] = [[], 0];
  };
  for await (const next of importing.readItems(checkpoint.position, checkpoint)) {
    batch.push(next.item);
    rows += importing.countRows(next.item);
    ({ end } = next);
    if (rows >= batchRows) await flush();
  }
  await flush();
  return { fileId: checkpoint.fileId, format: 'ndjson', rows: checkpoint.remarks, imported: checkpoint.imported };
}

async function createCheckpoint<Item>(run: TaskAttempt, importing: ImportDefinition<Item>): Promise<Checkpoint> {
  const survey = await importing.checkFile();
  const progress = await run.step(async (em) => {
    const checkpoint: Checkpoint = {
      ...survey,
      fileId: await createStoredFile(em),
      chunks: 0,
      remarks: 0,
      rows: 0,
      position: { bytes: 0, lines: 0 },
      imported: initialImportCounts,
    };
    return { checkpoint, processed: 0, total: survey.total, imported: initialImportCounts };
  });
  return progress.checkpoint;
}

async function importBatch<Item>(
  em: EntityManager,
  importing: ImportDefinition<Item>,
  from: Checkpoint,
  items: readonly Item[],
  attempts: number,
) {
  const importItems = importAll(importing, items, attempts);
  const results = await (importing.dryRun ? runAndRollBack(em, importItems) : importItems(em));
  const imported = { ...from.imported };
  for (const { outcome } of results) {
    imported[outcome] += 1;
    if (outcome === 'differing') imported.refused += 1;
  }
  const issues = results.flatMap((result) => result.issues);
  const rows = items.reduce((sum, item) => sum + importing.countRows(item), from.rows);
  const content = Buffer.from(issues.map((issue) => `${JSON.stringify(issue)}\n`).join(''));
  const checkpoint: Checkpoint = {
    ...from,
    chunks: await appendToStoredFile(em, from.fileId, from.chunks, content),
    remarks: from.remarks + issues.length,
    rows,
    imported,
  };
  return { checkpoint, processed: rows, imported };
}

/**
 * Imports all items in one step. If this step fails, imports the items one by one, so that the error contains the line number of the item
 * that failed.
 */
const importAll =
  <Item>({ importItems, importItem, firstLine }: ImportDefinition<Item>, items: readonly Item[], attempts: number) =>
  async (em: EntityManager): Promise<ImportOutcome[]> => {
    const outcomes = importItems && (await em.transactional((inner) => importItems(inner, items)).catch(() => undefined));
    if (outcomes) return outcomes;
    const results: ImportOutcome[] = [];
    for (const item of items) {
      const result = importItem(em, item).catch((error: unknown) => {
        throw addLine(error, firstLine(item), attempts);
      });
      results.push(await result);
    }
    return results;
  };

/** Adds the line number to the message of a permanent error. */
function addLine(error: unknown, line: number | undefined, attempts: number): unknown {
  const failure = toPermanentTaskErrorOrUndefined(error, attempts);
  return failure && line !== undefined ? new PermanentTaskError(failure.code, `Line ${line}: ${failure.message}`, failure.cause) : error;
}

/** Executes `effect` in a transaction, rolls the transaction back and returns the result. */
async function runAndRollBack<Result>(em: EntityManager, effect: (em: EntityManager) => Promise<Result>): Promise<Result> {
  const results: Result[] = [];
  const rollback = new Error('rolled back');
  await em
    .transactional(async (inner) => {
      results.push(await effect(inner));
      throw rollback;
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error;
    });
  const [result] = results;
  if (result === undefined) throw new Error('the dry run returned no result');
  return result;
}
