import { parentPort, workerData } from 'node:worker_threads';
import { hashSync } from 'bcryptjs';
import { z } from 'zod';

const { password, settings } = z.object({ password: z.string(), settings: z.string() }).parse(workerData);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is for windows; threads have no origin
parentPort?.postMessage(hashSync(password, settings));
