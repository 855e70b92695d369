/** Why a host refuses a request: a code of the machine's `meta.refuses`, or one of `HostCode`. */
export interface HostRefusal {
  readonly code: string
  /** Name of the parameter that is at fault. */
  readonly param?: string
  readonly message?: string
  /** The caught error, for logs. */
  readonly cause?: unknown
}

/**
 * The codes with which a host refuses requests by itself.
 *
 * @public for applications that map them
 */
export type HostCode = 'not_found' | 'actor_parked' | 'body_too_large' | 'internal_error'

/** Creates the error of a refusal. An application with error classes of its own supplies one (`HostOptions.refuse`). */
export type Refuse = (refusal: HostRefusal) => RefusedError

/**
 * An error with which a host or a machine has refused a request. It is recognised by its fields, so that a class of the
 * application can be one.
 */
export interface RefusedError extends Error {
  readonly code: string
  /** Whether the same request may be accepted later, so that it is retried. */
  readonly isPassing: boolean
}

/**
 * A refused request, in an application without error classes of its own.
 *
 * @example
 * if (error instanceof Refused && error.code === 'not_found') return answer(404)
 */
export class Refused extends Error implements RefusedError {
  override readonly name = 'Refused'
  readonly code: string
  readonly param: string | undefined

  constructor({ code, param, cause, message = cause instanceof Error ? cause.message : code }: HostRefusal) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.param = param
  }

  get isPassing(): boolean {
    return this.code === 'actor_parked'
  }
}

/** Creates a `Refused`. */
export const refused: Refuse = (refusal) => new Refused(refusal)

/**
 * Returns an error as a refusal; undefined when it is another failure.
 *
 * @example
 * const code = refusalIn(error)?.code ?? 'internal_error'
 */
export const refusalIn = (error: unknown): RefusedError | undefined => (isRefusing(error) ? error : undefined)

const isRefusing = (error: unknown): error is RefusedError =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && 'isPassing' in error
