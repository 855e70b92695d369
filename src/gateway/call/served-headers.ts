import { ServiceError } from '#specs/errors/errors.ts'
import type { Route } from './routes.ts'

type Headers = readonly (readonly [name: string, value: string])[]

const known = new WeakMap<Route, Headers>()

/**
 * Headers that say who served a call and who pays for it: `x-provider`, `x-billing-mode` (`managed`, `byok`, `custom`,
 * `simulated`), and `x-provider-connection`, the id of the connection or custom provider if there was one.
 */
export const servedHeaders = (route: Route | null): Headers => {
  if (route === null) return []
  const made = known.get(route)
  if (made !== undefined) return made
  const { provider, source, connectionId } = route
  const served: Headers = [['x-provider', provider] as const, ['x-billing-mode', source] as const]
  const headers = connectionId === null ? served : [...served, ['x-provider-connection', connectionId] as const]
  known.set(route, headers)
  return headers
}

/** Adds to an error the headers of the provider that was tried last. */
export const refusedBy = (route: Route | null, error: Error): Error => {
  if (route === null || !(error instanceof ServiceError)) return error
  const { code, details, cause } = error
  const headers = [...(details.headers ?? []), ...servedHeaders(route)]
  return new ServiceError(code, { ...details, headers, ...(cause !== undefined && { cause }) })
}
