import { noteServerDate } from './server-time.js'

/** An answer that is no success. `code` is the wire code, `unreachable` when no answer came. */
export class ApiError extends Error {
  /**
   * @param {number} status 0 when no answer came
   * @param {string} code
   * @param {string} message
   */
  constructor(status, code, message) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
  }
}

/**
 * Asks the server; the session is in the cookie that the browser sends along.
 *
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<any>} the JSON document
 * @throws {ApiError}
 */
const ask = async (path, init) => {
  const response = await fetch(path, { credentials: 'same-origin', ...init }).catch(() => null)
  if (response === null) throw new ApiError(0, 'unreachable', 'The server cannot be reached.')
  noteServerDate(response.headers.get('date'))
  const body = await response.json().catch(() => null)
  if (response.ok && body !== null) return body
  const { code = 'unreadable', message = `The server answered ${response.status}.` } = body?.error ?? {}
  throw new ApiError(response.status, code, message)
}

/**
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
export const get = (path, signal) => ask(path, signal === undefined ? {} : { signal })

/**
 * @param {string} path
 * @param {unknown} [body]
 */
export const post = (path, body) =>
  ask(path, {
    method: 'POST',
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })

/**
 * Asks for what belongs to a project and does not stand under its path.
 *
 * @param {string} project
 * @param {string} path
 * @param {{ readonly method?: 'GET' | 'POST', readonly body?: unknown }} [request]
 */
export const inProject = (project, path, { method = 'GET', body } = {}) => {
  const headers = { 'x-project-id': project, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  return ask(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
}

/**
 * Path of a project's resource.
 *
 * @param {string} project
 * @param {...string} parts
 */
export const projectPath = (project, ...parts) =>
  ['/api/projects', project, ...parts].map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join('/')
