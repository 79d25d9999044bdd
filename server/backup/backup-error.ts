/** A backup that cannot be made or restored, in words for whoever asked for it. Nothing was written, or all of it was undone. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
