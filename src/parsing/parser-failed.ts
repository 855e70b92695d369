/**
 * Reason why bytes were not read: they are not in the format, took too long or too much memory, or too many requests
 * are waiting.
 */
export type ParserFailure = 'unreadable' | 'deadline' | 'memory' | 'busy'

/** Untrusted bytes could not be read. */
export class ParserFailed extends Error {
  override readonly name = 'ParserFailed'
  readonly reason: ParserFailure
  constructor(reason: ParserFailure, message: string) {
    super(message)
    this.reason = reason
  }
}
