import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The data set that docs/testing.md describes, if it exists on this machine. */
export const monthFile =
  process.env['MANDATE_RETAIL_FILE'] ?? join(import.meta.dirname, '../../../shared/data/online-retail-2010-12.csv.gz');
export const hasMonthFile = existsSync(monthFile);
