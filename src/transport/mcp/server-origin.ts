import type { HttpRequest } from '../http/http-port.ts'

/**
 * The server's origin as the client of a request sees it.
 *
 * @param publicOrigin of `PUBLIC_URL`; null: that of the `Host` header.
 */
export const serverOrigin = (request: Pick<HttpRequest, 'header'>, publicOrigin: string | null): string => {
  const host = request.header('host') ?? 'localhost'
  return publicOrigin ?? `http://${/^[A-Za-z0-9.:[\]-]+$/.test(host) ? host : 'localhost'}`
}
