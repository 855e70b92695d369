import { createPrivateKey } from 'node:crypto'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { objectOf, parseJson, textOf } from '#outgoing/wire.ts'
import { cloudFields, type ProviderCredentials } from '#specs/data/provider-credentials.ts'
import type { WireFormat } from '#specs/data/providers.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { requireUrl } from './connection-rules.ts'
import { providerNamed } from './model-names.ts'

/** A key or credentials, as a caller gives them. */
interface GivenKey {
  readonly api_key?: string | undefined
  readonly credentials?: ProviderCredentials | undefined
}

/** The server that gets the key. */
interface KeyTarget {
  readonly provider: string
  readonly api_format: WireFormat
}

/**
 * Returns the text that is sealed as the key of a connection: the key itself, or the credentials as JSON; undefined
 * when neither is given.
 *
 * @throws {ServiceError} `missing_field` and `invalid_field` naming the field.
 */
export const keyTextOf = (
  guard: Pick<SsrfGuard, 'check'>,
  { api_format }: KeyTarget,
  { api_key, credentials }: GivenKey,
): string | undefined => {
  if (credentials === undefined) return plainKey(api_format, api_key)
  if (api_key !== undefined) throw invalid('credentials', 'Give either api_key or credentials.')
  const { required = [], optional = [] } = cloudFields[api_format] ?? {}
  const allowed: readonly string[] = [...required, ...optional]
  if (allowed.length === 0) throw invalid('credentials', `The API format ${api_format} has only an api_key.`)
  const foreign = Object.keys(credentials).find((name) => !allowed.includes(name))
  if (foreign !== undefined)
    throw invalid(`credentials.${foreign}`, `The API format ${api_format} has no credential ${foreign}.`)
  for (const name of required) if (credentials[name] === undefined) throw missing(`credentials.${name}`)
  if (credentials.authority !== undefined) requireUrl(guard, credentials.authority, 'credentials.authority')
  if (credentials.service_account !== undefined) requireAccount(guard, credentials.service_account)
  return JSON.stringify(credentials)
}

/** Like {keyTextOf}, for a new connection. @throws {ServiceError} also when nothing is given that the server requires. */
export const newKeyText = (guard: Pick<SsrfGuard, 'check'>, target: KeyTarget, given: GivenKey): string => {
  const text = keyTextOf(guard, target, given)
  if (text !== undefined) return text
  if (providerNamed(target.provider)?.keyless === true) return ''
  const { takesKey = true, required: [first] = [] } = cloudFields[target.api_format] ?? {}
  throw missing(takesKey || first === undefined ? 'api_key' : `credentials.${first}`)
}

/** @throws {ServiceError} `invalid_field` for a text that is no key file of a service account. */
const requireAccount = (guard: Pick<SsrfGuard, 'check'>, text: string): void => {
  const param = 'credentials.service_account'
  const { client_email, private_key, token_uri } = objectOf(parseJson(text))
  if (textOf(client_email) === '') throw invalid(param, 'The key file has no client_email.')
  if (!isRsaKey(textOf(private_key))) throw invalid(param, 'The key file has no private_key of RSA in PEM.')
  if (token_uri !== undefined) requireUrl(guard, textOf(token_uri), param)
}

const isRsaKey = (pem: string): boolean => {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

const plainKey = (format: WireFormat, key: string | undefined): string | undefined => {
  const cloud = cloudFields[format]
  if (key === undefined || cloud === undefined) return key
  if (!cloud.takesKey) throw invalid('api_key', `The API format ${format} requires credentials instead of a key.`)
  // credentials are stored as JSON in the place of a key
  if (cloud.required.length > 0 && key.startsWith('{')) throw invalid('api_key', 'The key is not one of this provider.')
  return key
}

const invalid = (param: string, message: string): ServiceError => new ServiceError('invalid_field', { param, message })

const missing = (param: string): ServiceError => new ServiceError('missing_field', { param })
