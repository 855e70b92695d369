/** A visit that did not come to its end: the page, the network or the browser is the reason. */
export class VisitFailed extends Error {
  override readonly name = 'VisitFailed'
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
