/**
 * Thrown if a backup could not be created or restored. The message is for the operator. Either nothing was written or everything was rolled
 * back.
 */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
