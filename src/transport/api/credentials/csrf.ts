import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'

/**
 * Refuses a request that another site made a browser send: it would carry the dashboard's cookie.
 * Browsers name the origin of everything but plain navigation; a request without any such header comes from none.
 *
 * @param publicOrigin the server's origin as browsers see it, where it differs from `Host` (behind a proxy); null otherwise.
 * @throws {ServiceError} `csrf_refused`
 */
export const refuseCrossSite = (request: HttpRequest, publicOrigin: string | null): void => {
  const site = request.header('sec-fetch-site')
  const origin = request.header('origin')
  if (site === 'same-origin' || site === 'none') return
  if (site === undefined && origin === undefined) return
  if (origin !== undefined && isOwn(origin, request, publicOrigin)) return
  throw new ServiceError('csrf_refused')
}

const isOwn = (origin: string, request: HttpRequest, publicOrigin: string | null): boolean => {
  const host = request.header('host')
  return (
    origin === publicOrigin || (host !== undefined && (origin === `https://${host}` || origin === `http://${host}`))
  )
}
