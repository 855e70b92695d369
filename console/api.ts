import type { Layout } from './chart-model.ts'
import { noteServerDate } from './format.ts'
import type { Answer, Given, OperationId, Place, Request } from './operation-types.ts'
import { operations } from './operations.ts'
import type { Answered } from './resources/types.ts'

/** A failed request. `code` is the wire code, or `unreachable` without an answer. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string

  /** @param status 0 when no answer came */
  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
  }
}

/** @returns the JSON document @throws {ApiError} */
const request = async <Document>(path: string, init?: RequestInit): Promise<Document> => {
  const response = await fetch(path, { credentials: 'same-origin', ...init }).catch(() => null)
  if (response === null) throw new ApiError(0, 'unreachable', 'The server cannot be reached.')
  noteServerDate(response.headers.get('date'))
  const body = await documentOf(response)
  if (response.ok && body !== null) return body
  throw errorOf(response.status, body)
}

/** @returns null for an answer that is no JSON */
const documentOf = (response: Response) =>
  response
    .text()
    .then(JSON.parse)
    .catch(() => null)

/** The error of an unsuccessful answer. */
export const errorIn = async (response: Response) => errorOf(response.status, await documentOf(response))

/** custom providers answer with a plain text */
type Refusal = Readonly<{ error?: string | { readonly code?: string; readonly message?: string } | null }> | null

/** Converts an unsuccessful answer to an error. */
export const errorOf = (status: number, body: Refusal) => {
  const error = typeof body?.error === 'string' ? { message: body.error } : body?.error
  const {
    code = 'unreadable',
    message = `The server responded with status ${status}.`,
  }: { code?: string; message?: string } = error ?? {}
  return new ApiError(status, code, message)
}

/** Message of an error, with its code. */
export const wordsOf = (error: unknown) => {
  if (error instanceof ApiError) return `${error.code}: ${error.message}`
  return error instanceof SyntaxError
    ? 'This is not valid JSON.'
    : error instanceof Error
      ? error.message
      : String(error)
}

/** The process's metrics in Prometheus' format; '' where a proxy does not forward them. */
export const metricsText = async () => {
  const response = await fetch('/metrics').catch(() => null)
  return response?.ok ? response.text() : ''
}

/** The layout of a chart, a file of the console itself. */
export const file = (path: string) => request<Layout>(path)

/** Path of an operation, with its query. @param project that the path names */
export const pathOf = <I extends OperationId>(project: string | null, id: I, ...given: Given<Place<I>>): string =>
  pathBy(project, id, given[0] ?? {})

/** what a call of an operation that is known by data only takes; `tenant`: restricts it, also among the params */
interface AnyGiven {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly tenant?: string
}

const pathBy = (project: string | null, id: OperationId, { params = {}, query = {} }: AnyGiven) => {
  const [, template] = operations[id]
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(params[name] ?? (name === 'project_id' ? (project ?? '') : '')),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  return search.size === 0 ? path : `${path}?${search}`
}

/**
 * Method and headers of an operation. The project is sent in a header, unless the path contains it.
 *
 * @param body undefined: none
 */
export const headOf = (
  project: string | null,
  id: OperationId,
  body: unknown,
): RequestInit & { headers: Record<string, string> } => {
  const [method, template] = operations[id]
  const named = project !== null && !template.includes('{project_id}')
  return {
    method,
    headers: {
      ...(named ? { 'x-project-id': project } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
}

/** Calls an operation that is known by data only (`resources/resources.ts`). @throws {ApiError} */
export const callById = (project: string | null, id: OperationId, given: AnyGiven): Promise<Answered> =>
  called(project, id, given)

const called = <Document>(project: string | null, id: OperationId, given: AnyGiven): Promise<Document> => {
  const { body, signal, params, tenant = params?.tenant ?? '' } = given
  const head = headOf(project, id, body)
  const headers = tenant === '' ? head.headers : { ...head.headers, 'x-tenant-id': tenant }
  return request(pathBy(project, id, given), { ...head, headers, ...(signal === undefined ? {} : { signal }) })
}

/** The bytes that an operation answers with. @throws {ApiError} */
export const bytesOf = async (project: string, id: OperationId, params: Readonly<Record<string, string>>) => {
  const response = await fetch(pathBy(project, id, { params }), headOf(project, id, undefined))
  if (!response.ok) throw await errorIn(response)
  return response.blob()
}

/**
 * Calls an operation; the browser sends the session cookie.
 *
 * @param project null for an operation outside projects
 * @throws {ApiError}
 */
export const callApi = <I extends OperationId>(
  project: string | null,
  id: I,
  ...given: Given<Request<I>>
): Promise<Answer<I>> => called(project, id, given[0] ?? {})
