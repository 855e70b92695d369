/** Thrown when a visit fails because of the page, the network or the browser. */
export class VisitFailed extends Error {
  override readonly name = 'VisitFailed'
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
