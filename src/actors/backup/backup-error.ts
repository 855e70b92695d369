/** An export or import that cannot go on. The message is for the operator, and says what to do where something can be done. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}
