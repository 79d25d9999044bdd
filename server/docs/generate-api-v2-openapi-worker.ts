import { parentPort, workerData } from 'node:worker_threads';
import { createOpenApiDocument } from '@mandate/contract/openapi';
import { z } from 'zod';

const issuer = z.string().parse(workerData);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is for windows; threads have no origin
parentPort?.postMessage(JSON.stringify(createOpenApiDocument(issuer, 'v2')));
