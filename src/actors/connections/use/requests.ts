import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { isObject } from '#runtime/index.ts'
import { connectorOf } from '#specs/data/connectors/connectors.ts'

/** Returns the header that carries a key or token. */
export const authHeaders = (
  { connector, config, auth }: Pick<ConnectionContext, 'connector' | 'config' | 'auth'>,
  token: string,
): Record<string, string> => {
  if (token === '') return {}
  const key = connectorOf(connector)?.key ?? { header: 'authorization', prefix: 'Bearer ' }
  const header = auth === 'api_key' && typeof config.header === 'string' ? config.header.toLowerCase() : key.header
  const byDefault = header === 'authorization' ? key.prefix : ''
  const prefix = auth === 'api_key' && typeof config.prefix === 'string' ? config.prefix : byDefault
  return { [header]: `${prefix}${token}` }
}

/** Returns headers that a connector's requests have in addition to the key. */
export const connectorHeaders = (connector: string): Readonly<Record<string, string>> =>
  connectorOf(connector)?.headers ?? {}

/**
 * Returns the base URL of a connection's API without a trailing slash; null when it is not known.
 *
 * @param imported URL of the first server in an OpenAPI document.
 */
export const baseUrlOf = (
  { connector, config, provided }: Pick<ConnectionContext, 'connector' | 'config' | 'provided'>,
  imported: string | null = null,
): string | null => {
  const template = connectorOf(connector)?.base_url ?? textOf(config.base_url) ?? imported
  if (template === null) return null
  const settings = { ...(isObject(config.settings) ? config.settings : {}), ...provided }
  let isWhole = true
  const url = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = settings[name]
    if (typeof value !== 'string') isWhole = false
    return typeof value !== 'string' ? '' : name === 'instance_url' ? value : encodeURIComponent(value)
  })
  return isWhole && URL.parse(url) !== null ? withoutSlash(url) : null
}

/** Removes a trailing slash from a URL, so that a path can be appended. */
export const withoutSlash = (url: string): string => (url.endsWith('/') ? url.slice(0, -1) : url)

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
