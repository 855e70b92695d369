import type { EnvelopeName } from '#specs/dsl/declare.ts'
import { a2aError, a2aRpcError } from '#specs/errors/a2a-errors.ts'
import { errors, type ServiceError } from '#specs/errors/errors.ts'
import { googleError } from '#specs/errors/google-errors.ts'
import { anthropicError, codeIn, statusIn } from '#specs/errors/wire-errors.ts'

/** An error as it is answered. */
export interface ShownError {
  readonly status: number
  readonly body: object
}

/** Error bodies, one function per route family (specs/errors/errors.ts). */
const bodies: Readonly<Record<EnvelopeName, (error: ServiceError, requestId: string) => object>> = {
  platform: (error, requestId) => platformBody(error, requestId),

  openai: (error, requestId) => platformBody(error, requestId),

  memory: (error, requestId) => ({ ...platformBody(error, requestId), ...error.details.extra }),

  flat: (error, requestId) => ({
    error: codeIn('flat', error.code),
    message: error.message,
    ...paramOf(error),
    ...error.details.extra,
    request_id: requestId,
  }),

  web: (error, requestId) => ({
    error: error.code,
    message: error.message,
    details: { ...paramOf(error), ...error.details.extra, request_id: requestId },
  }),

  anthropic: (error, requestId) => anthropicError(error, requestId),

  a2a: (error, requestId) => a2aError(error, requestId),

  a2a_rpc: (error, requestId) => a2aRpcError(error, requestId),

  google: (error, requestId) => googleError(error, requestId),

  custom_providers: (error) => ({ error: namingMessage(error) }),
}

/** Formats an error in a family's envelope. */
export const envelop = (name: EnvelopeName, error: ServiceError, requestId: string): ShownError => ({
  status: statusIn(name, error.code),
  body: bodies[name](error, requestId),
})

/** Body of the platform's envelope; also the data of a WebSocket's error frame. */
export const platformBody = (error: ServiceError, requestId: string) => ({
  error: {
    type: errors[error.code].type,
    code: error.code,
    message: error.message,
    request_id: requestId,
    param: error.details.param ?? null,
  },
})

const paramOf = ({ details }: ServiceError) => (details.param === undefined ? {} : { param: details.param })

/** Message that includes the field's name, for the envelope that has no place for it. */
const namingMessage = ({ details, message }: ServiceError): string =>
  details.param === undefined || message.includes(details.param) ? message : `${message} (${details.param})`
