import { isObject } from '#runtime/index.ts'
import { OAuthError } from './oauth-error.ts'
import { checkedRedirectUris } from './redirect-uris.ts'

/** What is known of a client: its own words, none of which is proven except by where its answers are sent. */
export type ClientMetadata = {
  readonly name: string
  readonly redirect_uris: readonly string[]
}

const maxNameLength = 128

/** Control characters, and those that hide or turn other text around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are removed
const unseen = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/**
 * Reads the metadata of a client (RFC 7591), from its registration or its document. Logos and links are left out: they
 * would make the consent page load or lead to what a stranger chose.
 *
 * @throws {OAuthError} `invalid_client_metadata`, `invalid_redirect_uri`
 */
export const readMetadata = (given: unknown): ClientMetadata => {
  if (!isObject(given)) throw new OAuthError('invalid_client_metadata', 'The metadata must be a JSON object.')
  const redirect_uris = checkedRedirectUris(given.redirect_uris)
  requireAmong(given, 'grant_types', ['authorization_code', 'refresh_token'])
  requireAmong(given, 'response_types', ['code'])
  const { client_name } = given
  const name = typeof client_name === 'string' ? client_name.toWellFormed().replaceAll(unseen, '').trim() : ''
  return { name: name.slice(0, maxNameLength).toWellFormed() || 'An app without a name', redirect_uris }
}

const requireAmong = (given: Readonly<Record<string, unknown>>, field: string, known: readonly string[]): void => {
  const { [field]: value = [] } = given
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0 || list.some((each) => known.some((own) => own === each))) return
  throw new OAuthError('invalid_client_metadata', `${field} must include one of ${known.join(', ')}.`)
}
