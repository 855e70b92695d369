import type { EnvelopeName } from '../../../specs/declare.ts'
import { type ErrorCode, errors, type ServiceError } from '../../../specs/errors.ts'

/** An error as a route family shows it. */
export interface ShownError {
  readonly status: number
  readonly body: object
}

type Envelope = (error: ServiceError, requestId: string) => ShownError

/** The shapes of errors, one function a family (interface "Errors"). */
const envelopes: Readonly<Record<EnvelopeName, Envelope>> = {
  platform: (error, requestId) => ({ status: errors[error.code].status, body: platformBody(error, requestId) }),

  memory: (error, requestId) => ({
    status: errors[error.code].status,
    body: { ...platformBody(error, requestId), ...error.details.extra },
  }),

  flat: (error, requestId) => {
    const malformed = isMalformed(error.code)
    return {
      status: malformed ? 400 : errors[error.code].status,
      body: {
        error: malformed ? 'bad_request' : error.code,
        message: messageOf(error),
        ...paramOf(error),
        ...error.details.extra,
        request_id: requestId,
      },
    }
  },

  web: (error, requestId) => ({
    status: isMalformed(error.code) ? 400 : errors[error.code].status,
    body: {
      error: error.code,
      message: messageOf(error),
      details: { ...paramOf(error), ...error.details.extra, request_id: requestId },
    },
  }),

  custom_providers: (error) => ({
    status: isMalformed(error.code) ? 400 : errors[error.code].status,
    body: { error: messageOf(error) },
  }),
}

/** Puts an error into a family's envelope. */
export const envelop = (name: EnvelopeName, error: ServiceError, requestId: string): ShownError =>
  envelopes[name](error, requestId)

/** What the platform's envelope holds; also the data of a WebSocket's error frame. */
export const platformBody = (error: ServiceError, requestId: string) => ({
  error: {
    type: errors[error.code].type,
    code: error.code,
    message: messageOf(error),
    request_id: requestId,
    param: error.details.param ?? null,
  },
})

const paramOf = ({ details }: ServiceError) => (details.param === undefined ? {} : { param: details.param })

/** The table's sentence does not say which field it was; not every envelope has a place for its name. */
const messageOf = ({ details, message }: ServiceError): string =>
  details.param === undefined || message.includes(details.param) ? message : `${message} (${details.param})`

const malformed: ReadonlySet<ErrorCode> = new Set([
  'bad_request',
  'malformed_json',
  'missing_field',
  'unknown_field',
  'invalid_field',
  'invalid_query',
])

const isMalformed = (code: ErrorCode): boolean => malformed.has(code)
