import { credentialAddress } from '#outgoing/credential-address.ts'
import { type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { cloudFields, type ProviderSettings } from '#specs/data/provider-credentials.ts'
import { unservedProviders, type WireFormat } from '#specs/data/providers.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { filledUrl, missingSettings } from './base-url.ts'
import { providerNamed } from './model-names.ts'

/** The address of a connection, as a caller gives it. */
export interface Destination {
  readonly provider: string
  readonly api_format?: WireFormat | undefined
  readonly base_url?: string | null | undefined
  readonly settings?: ProviderSettings | null | undefined
}

/** A validated address of a connection. */
export interface SureDestination {
  readonly provider: string
  readonly api_format: WireFormat
  readonly base_url: string | null
  readonly settings: ProviderSettings | null
}

/**
 * Validates the address of a connection. `provider` becomes the id of a known provider, else the caller's own name in
 * lower case; the format defaults to that of the provider.
 *
 * @throws {ServiceError} `invalid_field` for an address that cannot be used, a setting of another API and a provider that
 * is not served; `missing_field` for an unknown provider without a URL, and for a setting that the address requires.
 */
export const destinationOf = (guard: Pick<SsrfGuard, 'check'>, given: Destination): SureDestination => {
  const known = providerNamed(given.provider)
  const base_url = given.base_url ?? null
  if (known?.id === 'simulated') throw notAllowed
  if (unservedProviders.has(given.provider.toLowerCase())) throw notServed(given.provider)
  if (known === undefined && base_url === null) {
    throw new ServiceError('missing_field', {
      param: 'base_url',
      message: 'A provider with your own name requires base_url.',
    })
  }
  if (base_url !== null) requireUrl(guard, base_url, 'base_url')
  const api_format = given.api_format ?? known?.format ?? 'openai'
  if (known !== undefined && base_url === null && api_format !== known.format) {
    const message = `${known.name} uses the API format ${known.format}; another format requires base_url.`
    throw new ServiceError('invalid_field', { param: 'api_format', message })
  }
  const settings = given.settings ?? null
  requireSettings(api_format, base_url === null ? (known?.baseUrl ?? '') : '', settings ?? {})
  return { provider: known?.id ?? given.provider.toLowerCase(), api_format, base_url: trimmed(base_url), settings }
}

/** @throws {ServiceError} naming the setting. */
const requireSettings = (format: WireFormat, template: string, settings: ProviderSettings): void => {
  const allowed: readonly string[] = cloudFields[format]?.settings ?? []
  const foreign = Object.keys(settings).find((name) => !allowed.includes(name))
  if (foreign !== undefined) {
    const message = `The API format ${format} has no setting ${foreign}.`
    throw new ServiceError('invalid_field', { param: `settings.${foreign}`, message })
  }
  const [missing] = missingSettings(template, settings)
  if (missing === undefined) return
  const message = `The address of the provider requires settings.${missing}, unless base_url is given.`
  throw new ServiceError('missing_field', { param: `settings.${missing}`, message })
}

/**
 * Ensures that a stored key is only sent to the address for which it was set: otherwise a caller who may change the
 * address could obtain the key.
 *
 * @param key the new key, if there is one.
 * @throws {ServiceError} `missing_field` for a change of the address without its key.
 */
export const requireKeyFor = (before: Destination, after: Destination, key: string | undefined): void => {
  const isSame = serverOf(before) === serverOf(after) && (before.api_format === after.api_format || !hasSecrets(before))
  if (key !== undefined || isSame) return
  throw needsItsKey({ url: 'base_url', key: 'api_key' })
}

/** Whether the stored key may contain credentials that only one API exchanges for a token or a signature. */
const hasSecrets = ({ api_format = 'openai' }: Destination): boolean =>
  (cloudFields[api_format]?.required.length ?? 0) > 0

/** The error for a change that would send a stored key to another address; it names the API's own fields. */
export const needsItsKey = ({ url, key }: { readonly url: string; readonly key: string }): ServiceError => {
  const message = `A new ${url} requires ${key}: the stored key is sent only to the address for which it was set.`
  return new ServiceError('missing_field', { param: key, message })
}

const serverOf = ({ provider, base_url, settings }: Destination): string =>
  credentialAddress(base_url ?? filledUrl(providerNamed(provider)?.baseUrl ?? '', settings ?? {}))

const notAllowed = new ServiceError('invalid_field', {
  param: 'provider',
  message: 'Connections to this provider are not supported.',
})

const notServed = (provider: string): ServiceError =>
  new ServiceError('invalid_field', {
    param: 'provider',
    message: `${provider} is not the name of a provider that is served. GET /api/providers lists them; the clouds are azure-openai, bedrock and vertex.`,
  })

const trimmed = (url: string | null): string | null => url?.replace(/(?<!\/)\/+$/, '') ?? null

/**
 * Validates a base URL as far as possible without a DNS lookup; its addresses are checked on each connection.
 *
 * @throws {ServiceError} `invalid_field` naming `param`.
 */
export const requireUrl = (guard: Pick<SsrfGuard, 'check'>, text: string, param: string): void => {
  const refused = (why: string) => new ServiceError('invalid_field', { param, message: `The URL is refused: ${why}.` })
  try {
    const url = guard.check(text)
    if (url.search !== '' || url.hash !== '') throw refused('it must end with the version segment and have no query')
    if (/\/(chat\/completions|messages|models)\/*$/.test(url.pathname)) {
      throw refused('it must end with the version segment, such as /v1, not with an operation')
    }
  } catch (error) {
    throw error instanceof SsrfRefused ? refused(error.message) : error
  }
}
