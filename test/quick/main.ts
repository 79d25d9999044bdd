/** `npm run test:quick` tests every API resource on the embedded database within a minute. */
import { startVitest } from 'vitest/node';
import { quickTestFiles } from './quick-test-files.ts';

await startVitest('test', quickTestFiles, { project: ['pglite'], run: true });
