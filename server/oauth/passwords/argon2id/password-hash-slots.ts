/** Thrown when the password hashing queue is full. */
export class PasswordHashQueueFullError extends Error {
  override readonly name = 'PasswordHashQueueFullError';
}

// Hashing occupies threads that file access and DNS lookups also need, so the number of concurrent and queued calls is limited.
const concurrentMax = 2;
const queuedMax = 64;
let running = 0;
const queue: (() => void)[] = [];
const backgroundQueue: { readonly start: () => void; readonly queuedAt: number }[] = [];
/** A background task that has waited longer than this time runs next, so that a constant stream of sign-ins cannot block the task. */
const maxBackgroundWaitMs = 1000;

/**
 * Runs password hashing as soon as a slot is free.
 * @throws PasswordHashQueueFullError
 */
export async function withHashSlot<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= concurrentMax) {
    if (queue.length >= queuedMax) throw new PasswordHashQueueFullError('too many passwords are being hashed');
    await new Promise<void>((resolve) => queue.push(resolve)); // a finished call passes its slot to the next call
  } else {
    running += 1;
  }
  return runInSlot(work);
}

/**
 * Runs password hashing for a background task. Hashing starts when no other password is being hashed, or after about a second at the
 * latest.
 */
export async function runHashingWhenIdleOrOverdue<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running > 0) await new Promise<void>((resolve) => backgroundQueue.push({ start: resolve, queuedAt: performance.now() }));
  else running += 1;
  return runInSlot(work);
}

async function runInSlot<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    const next = takeOverdueBackgroundWork() ?? queue.shift() ?? (running === 1 ? backgroundQueue.shift()?.start : undefined);
    if (next) next();
    else running -= 1;
  }
}

function takeOverdueBackgroundWork(): (() => void) | undefined {
  const [first] = backgroundQueue;
  return first && performance.now() - first.queuedAt > maxBackgroundWaitMs ? backgroundQueue.shift()?.start : undefined;
}
