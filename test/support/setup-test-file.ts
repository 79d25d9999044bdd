import { resetState } from './test-files/test-file-state.ts';

// Vitest evaluates this file before each test file, but evaluates the modules that this file imports only once per worker.
resetState();
