/** Thrown when a source cannot be read, temporarily or permanently. */
export class SyncFailed extends Error {
  override readonly name = 'SyncFailed'
  readonly code: string
  /** Whether retrying is pointless. */
  readonly isFinal: boolean

  constructor(code: string, message: string, isFinal = false) {
    super(message)
    this.code = code
    this.isFinal = isFinal
  }
}
