import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'

/**
 * Refuses a request that a page of another site made the browser send, since it would carry the dashboard's cookie.
 * Browsers send `Origin` or `Sec-Fetch-Site` with everything but plain navigation; a request with neither is not from a
 * page.
 *
 * @param publicOrigin the server's origin as browsers see it, if it differs from `Host` (behind a proxy); null
 * otherwise.
 * @throws {ServiceError} `csrf_refused`
 */
export const refuseCrossSite = (request: Pick<HttpRequest, 'header'>, publicOrigin: string | null): void => {
  const site = request.header('sec-fetch-site')
  const origin = request.header('origin')
  if (site === 'same-origin' || site === 'none') return
  if (site === undefined && origin === undefined) return
  if (origin !== undefined && isOwn(origin, request, publicOrigin)) return
  throw new ServiceError('csrf_refused')
}

const isOwn = (origin: string, request: Pick<HttpRequest, 'header'>, publicOrigin: string | null): boolean => {
  if (origin === publicOrigin) return true
  const host = request.header('host')
  // under its public host name only the exact public origin counts: without TLS, anyone on the network path can forge a
  // page of that name
  if (host === undefined || publicOrigin?.endsWith(`//${host.toLowerCase()}`)) return false
  return origin === `https://${host}` || origin === `http://${host}`
}
