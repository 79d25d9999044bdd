import { resetState } from './test-files/test-file-state.ts';

// Vitest evaluates this file before each test file, and the modules that it imports once per worker.
resetState();
