import { credentialAddress, isBelow, isSecureUrl } from '#outgoing/credential-address.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { SsrfRefused } from '#outgoing/ssrf-guard.ts'
import type { ConnectorType } from '#specs/data/connectors/connector-type.ts'
import { isDiscovered } from '#specs/data/connectors/connectors.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import type { JsonObject } from '#storage/index.ts'
import { publicConfig } from './oauth/oauth-server.ts'

/** The config of a connection in a request. */
export type ConnectionConfig = NonNullable<BodyOf<'connections.create'>['config']>

const endpoints = ['authorization_url', 'token_url', 'revocation_url'] as const
const discoveredFields = ['server_url', 'issuer', 'client_id', 'client_secret', 'token_auth_method'] as const
const oauthFields = [...endpoints, 'issuer', 'client_id', 'client_secret', 'token_auth_method'] as const
const httpFields = ['base_url', 'openapi', 'test_path'] as const
const keyFields = ['header', 'prefix'] as const

/** Headers that are reserved for the request itself. */
const reserved = new Set(['host', 'content-length', 'content-type', 'transfer-encoding', 'connection', 'cookie'])

/**
 * Checks that the connector accepts a config, and that the server may connect to its URLs.
 *
 * @param whole the complete config of the connection, `sent` the fields in this request.
 * @throws {ServiceError} `invalid_field`, `missing_field`
 */
export const checkConfig = (
  type: ConnectorType,
  sent: ConnectionConfig,
  { whole, guard }: { readonly whole: ConnectionConfig; readonly guard: Pick<SsrfGuard, 'check'> },
): void => {
  const takesKey = type.auth === 'api_key'
  const isOwn = type.base_url === null
  const discovers = isDiscovered(type.id)
  const taken: readonly string[] = [
    ...(isOwn && !discovers ? httpFields : []),
    ...(isOwn && takesKey ? keyFields : []),
    ...(discovers ? discoveredFields : []),
    ...(type.auth === 'oauth2' && type.oauth === null && !discovers ? oauthFields : []),
    ...(type.auth === 'oauth2' ? ['scopes'] : []),
    ...(type.settings.length > 0 ? ['settings'] : []),
  ]
  const other = Object.keys(sent).find((field) => !taken.includes(field))
  if (other !== undefined) throw refused(other, `The connector ${type.id} does not accept this field.`)
  if (sent.header !== undefined && reserved.has(sent.header.toLowerCase()))
    throw refused('header', 'This header is reserved.')
  const strange = Object.keys(sent.settings ?? {}).find((name) => !type.settings.includes(name))
  if (strange !== undefined) throw refused(`settings.${strange}`, `The connector ${type.id} has no such setting.`)
  for (const field of [...endpoints, 'base_url', 'server_url'] as const) checkUrl(field, sent[field], guard)
  if (sent.test_path !== undefined && !/^\/(?!\/)/.test(sent.test_path))
    throw refused('test_path', 'A path must start with a slash.')
  if (sent.test_path !== undefined && !staysBelow(sent.test_path))
    throw refused('test_path', 'A path must not leave the base URL.')
  checkUrl('openapi.url', sent.openapi?.url, guard)
  if (sent.openapi !== undefined && (sent.openapi.url === undefined) === (sent.openapi.document === undefined))
    throw refused('openapi', 'openapi must have either url or document.')
  if (type.auth === 'oauth2' && type.oauth === null) {
    const required = discovers ? (['server_url'] as const) : (['authorization_url', 'token_url', 'client_id'] as const)
    const missing = required.find((field) => whole[field] === undefined)
    if (missing !== undefined) throw new ServiceError('missing_field', { param: `config.${missing}` })
  }
}

const someBase = 'https://example.com/base'

const staysBelow = (path: string): boolean => {
  const url = URL.parse(someBase + path)
  return url !== null && isBelow(url, someBase)
}

const checkUrl = (field: string, url: string | null | undefined, guard: Pick<SsrfGuard, 'check'>): void => {
  if (url === undefined || url === null) return
  try {
    guard.check(url)
  } catch (error) {
    if (!(error instanceof SsrfRefused)) throw error
    throw refused(field, `The URL is refused: ${error.message}.`, error)
  }
  if (!isSecureUrl(url)) throw refused(field, 'The URL must use https, because secrets are sent to it.')
}

const refused = (field: string, message: string, cause?: unknown): ServiceError =>
  new ServiceError('invalid_field', { param: `config.${field}`, message, ...(cause !== undefined && { cause }) })

/** Whether a change of the config would send stored secrets to a server that they were not given for. */
export const changesTarget = (
  before: JsonObject,
  after: JsonObject,
  fields: readonly ('token_url' | 'authorization_url' | 'client_id' | 'issuer')[],
): boolean =>
  before.server_url !== after.server_url ||
  revokesElsewhere(before, after) ||
  fields.some((field) => before[field] !== undefined && placeOf(before[field]) !== placeOf(after[field]))

/** Whether the revocation endpoint, which receives the tokens and the client secret, moves to a new address. */
const revokesElsewhere = (before: JsonObject, { revocation_url }: JsonObject): boolean =>
  typeof revocation_url === 'string' &&
  before.token_url !== undefined &&
  [before.revocation_url, before.token_url].every((known) => placeOf(known) !== placeOf(revocation_url))

const placeOf = (value: JsonObject[string] | undefined): string => credentialAddress(String(value ?? ''))

/** Returns the part of a config that is stored in the connection's log: everything except secrets. */
export const shownConfig = (config: ConnectionConfig): JsonObject => publicConfig(JSON.parse(JSON.stringify(config)))
