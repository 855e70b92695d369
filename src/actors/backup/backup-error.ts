/**
 * An export or import that cannot continue. The message is for the operator and says how to resolve it, where that is
 * possible.
 */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}
