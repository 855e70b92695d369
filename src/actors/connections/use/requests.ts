import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { isObject } from '#runtime/schema.ts'
import { connectorOf } from '#specs/data/connectors/connectors.ts'

/** The header that a key or token goes in. */
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

/** Headers that a connector's requests have beside the key. */
export const connectorHeaders = (connector: string): Readonly<Record<string, string>> =>
  connectorOf(connector)?.headers ?? {}

/**
 * URL of the API of a connection, without a slash at its end; null where it is not known.
 * @param imported the first server of an OpenAPI document.
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
  return isWhole && URL.canParse(url) ? withoutSlash(url) : null
}

/** A URL without a slash at its end, so that a path can be added. */
export const withoutSlash = (url: string): string => (url.endsWith('/') ? url.slice(0, -1) : url)

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
