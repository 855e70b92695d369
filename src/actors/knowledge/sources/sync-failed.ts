/** A source that cannot be read now, or at all. */
export class SyncFailed extends Error {
  override readonly name = 'SyncFailed'
  readonly code: string
  /** No further attempt has a chance. */
  readonly isFinal: boolean

  constructor(code: string, message: string, isFinal = false) {
    super(message)
    this.code = code
    this.isFinal = isFinal
  }
}
