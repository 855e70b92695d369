import type { ServiceError } from './errors.ts'
import { statusIn } from './wire-errors.ts'

/** Names of statuses in google.rpc. */
const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'FAILED_PRECONDITION',
  413: 'RESOURCE_EXHAUSTED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** A google.rpc.Status as Google's APIs answer it, with one google.rpc.ErrorInfo or the like. */
export const rpcStatus = (status: number, message: string, info: object) => ({
  error: { code: status, status: statusNames[status] ?? 'INTERNAL', message, details: [info] },
})

/** A google.rpc.ErrorInfo. Its metadata have the code and the place of the error. */
export const errorInfo = (
  { code, details: { param } }: ServiceError,
  { requestId, reason, domain }: { readonly requestId: string; readonly reason: string; readonly domain: string },
) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo' as const,
  ...{ reason, domain },
  metadata: { code, request_id: requestId, ...(param !== undefined && { param }) },
})

/** Returns an error in the envelope of Google's Gemini API: the body of an answer, or the data of an event. */
export const googleError = (error: ServiceError, requestId: string) => {
  const reason = error.code.toUpperCase()
  return rpcStatus(
    statusIn('google', error.code),
    error.message,
    errorInfo(error, { requestId, reason, domain: 'troupe' }),
  )
}
