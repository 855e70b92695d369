import { noteServerDate } from './format.js'
import { operations } from './operations.js'

/** @typedef {import('./operation-types.js').OperationId} OperationId */

/** A failed request. `code` is the wire code, or `unreachable` without an answer. */
export class ApiError extends Error {
  /** @param {number} status 0 when no answer came @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
  }
}

/** @param {string} path @param {RequestInit} [init] @returns {Promise<any>} the JSON document @throws {ApiError} */
const request = async (path, init) => {
  const response = await fetch(path, { credentials: 'same-origin', ...init }).catch(() => null)
  if (response === null) throw new ApiError(0, 'unreachable', 'The server cannot be reached.')
  noteServerDate(response.headers.get('date'))
  const body = await response.json().catch(() => null)
  if (response.ok && body !== null) return body
  throw errorOf(response.status, body)
}

/** Converts an unsuccessful answer to an error; custom providers answer with a plain text. @param {number} status @param {any} body */
export const errorOf = (status, body) => {
  const { code = 'unreadable', message = `The server responded with status ${status}.` } =
    typeof body?.error === 'object' ? (body.error ?? {}) : { message: body?.error ?? undefined }
  return new ApiError(status, code, message)
}

/** Message of an error, with its code. @param {unknown} error */
export const wordsOf = (error) => {
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

/** A file of the console itself. @param {string} path */
export const file = (path) => request(path)

/**
 * Path of an operation, with its query.
 *
 * @template {OperationId} I
 * @param {string | null} project that the path names
 * @param {I} id
 * @param {import('./operation-types.js').Given<import('./operation-types.js').Place<I>>} given
 * @returns {string}
 */
export const pathOf = (project, id, ...given) => pathBy(project, id, given[0] ?? {})

/**
 * @param {string | null} project
 * @param {OperationId} id
 * @param {{ params?: Readonly<Record<string, string>> | undefined, query?: Readonly<Record<string, unknown>> | undefined }} place
 */
const pathBy = (project, id, { params = {}, query = {} }) => {
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
 * @param {string | null} project
 * @param {OperationId} id
 * @param {unknown} body undefined: none
 * @returns {RequestInit & { headers: Record<string, string> }}
 */
export const headOf = (project, id, body) => {
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

/**
 * Calls an operation that is known by data only (`resources/resources.js`).
 *
 * @param {string | null} project
 * @param {OperationId} id
 * @param {{ params?: Readonly<Record<string, string>> | undefined, query?: Readonly<Record<string, unknown>> | undefined, body?: unknown, signal?: AbortSignal, tenant?: string }} given
 *   `tenant`: restricts the call, also among the params
 * @returns {Promise<any>} the JSON document
 * @throws {ApiError}
 */
export const callById = (project, id, given) => {
  const { body, signal, params, tenant = params?.tenant ?? '' } = given
  const head = headOf(project, id, body)
  const headers = tenant === '' ? head.headers : { ...head.headers, 'x-tenant-id': tenant }
  return request(pathBy(project, id, given), { ...head, headers, ...(signal === undefined ? {} : { signal }) })
}

/** The bytes that an operation answers with. @param {string} project @param {OperationId} id @param {Readonly<Record<string, string>>} params @throws {ApiError} */
export const bytesOf = async (project, id, params) => {
  const response = await fetch(pathBy(project, id, { params }), headOf(project, id, undefined))
  if (!response.ok) throw errorOf(response.status, await response.json().catch(() => null))
  return response.blob()
}

/**
 * Calls an operation; the browser sends the session cookie.
 *
 * @template {OperationId} I
 * @param {string | null} project null for an operation outside projects
 * @param {I} id
 * @param {import('./operation-types.js').Given<import('./operation-types.js').Request<I>>} given
 * @returns {Promise<import('./operation-types.js').Answer<I>>}
 * @throws {ApiError}
 */
export const callApi = (project, id, ...given) => callById(project, id, given[0] ?? {})
