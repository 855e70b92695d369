import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'

/**
 * Refuses a request that another site made a browser send: it would carry the dashboard's cookie.
 * Browsers name the origin of everything but plain navigation; a request without any such header comes from none.
 *
 * @param publicOrigin the server's origin as browsers see it, where it differs from `Host` (behind a proxy); null otherwise.
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
  // under its public name it is the public origin only: anyone on the way can write the page of its name without TLS
  if (host === undefined || publicOrigin?.endsWith(`//${host.toLowerCase()}`)) return false
  return origin === `https://${host}` || origin === `http://${host}`
}
