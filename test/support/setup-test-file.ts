import { resetState } from './test-files/test-file-state.ts';

// Vitest evaluates this file before each test file, but the modules that it imports only once per worker.
resetState();
