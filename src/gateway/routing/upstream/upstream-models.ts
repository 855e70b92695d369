import {
  sendUpstream,
  type UpstreamReach,
  type UpstreamReply,
  type UpstreamRequest,
} from '#gateway/call/authorization/small-request.ts'
import type { KeyCheck, ListedModel } from '#gateway/providers/provider-format.ts'
import { providerFormats } from '#gateway/providers/provider-formats.ts'
import { addressNotAllowed } from '#outgoing/ssrf-guard.ts'
import { countOf, isObject, textOf } from '#outgoing/wire.ts'
import type { SyncedModel } from '../kinds.ts'
import type { Endpoint } from '../managed-providers.ts'
import { sdkRequest, sendAuthorized } from './upstream-request.ts'

/** Why the models of a provider could not be listed, or its key could not be checked. */
export type UpstreamFailure =
  | 'key_refused'
  | 'address_refused'
  | 'timeout'
  | 'unreachable'
  | 'provider_error'
  | 'unreadable'
  | 'no_list'

/**
 * A provider's models, or the reason why there are none. Messages may be shown: they quote nothing of the provider's
 * answer.
 */
export type UpstreamModels =
  | { readonly ok: true; readonly models: readonly SyncedModel[] }
  | { readonly ok: false; readonly trouble: UpstreamFailure; readonly message: string; readonly status: number | null }

/** Maximum number of models; a longer list is cut. */
const maxModels = 5000
const maxPages = 20
const maxIdLength = 256

/** Returns all models that the provider lists, sorted by id. Never throws. */
export const listModels = async (reach: UpstreamReach, endpoint: Endpoint): Promise<UpstreamModels> => {
  const form = providerFormats[endpoint.format].models
  if (form === undefined) return failed('no_list', 'The provider does not list its models.')
  const models = new Map<string, SyncedModel>()
  let after: string | null = null
  for (let page = 0; page < maxPages && models.size < maxModels; page++) {
    const reply: UpstreamReply = await pageOf(reach, endpoint, after)
    const trouble = troubleOf(reply)
    if (trouble !== null) return trouble
    const json = reply.kind === 'answer' ? reply.json : undefined
    const rows = form.rows(json)
    if (rows === null) return failed('unreadable', 'The provider returned something other than a list of models.')
    for (const row of rows.filter(isObject).map(form.model).map(modelOf)) if (isUsable(row)) models.set(row.id, row)
    after = form.next?.(json, after) ?? null
    if (after === null) break
  }
  const sorted = [...models.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
  return { ok: true, models: sorted.slice(0, maxModels) }
}

/** Requests a page of the list, by the provider's SDK if it has one. */
const pageOf = (reach: UpstreamReach, endpoint: Endpoint, after: string | null): Promise<UpstreamReply> => {
  const { path, base } = providerFormats[endpoint.format].models ?? {}
  if (path === undefined) return sdkRequest(reach, endpoint, (sdk) => sdk.models(after))
  const baseUrl = base?.(endpoint.baseUrl) ?? endpoint.baseUrl
  return sendAuthorized(reach, endpoint, requestTo({ ...endpoint, baseUrl }, path(after, endpoint.settings)))
}

/**
 * Checks whether the provider accepts the key, by a request that is free of charge. Providers with a public list, or
 * without one, are checked by other requests.
 */
export const checkKey = async (reach: UpstreamReach, endpoint: Endpoint): Promise<UpstreamModels> => {
  const check = ownChecks[endpoint.provider] ?? providerFormats[endpoint.format].keyCheck
  if (check !== undefined && 'get' in check) {
    const trouble = troubleOf(await sendUpstream(reach, requestTo(endpoint, check.get)))
    return trouble ?? listed(await listModels(reach, endpoint))
  }
  const models = await listModels(reach, endpoint)
  return models.ok || models.trouble !== 'no_list' || check === undefined
    ? models
    : withoutList(reach, endpoint, check.post)
}

/** Checks of providers whose list of models is public, unlike that of others with the same format. */
const ownChecks: Readonly<Record<string, KeyCheck>> = { openrouter: { get: '/key' } }

/** An accepted key counts as valid even when there is no list. */
const listed = (models: UpstreamModels): UpstreamModels =>
  models.ok || models.trouble !== 'no_list' ? models : { ok: true, models: [] }

/** Checks a key by an empty request: with a valid key, it is refused for its missing fields. */
const withoutList = async (reach: UpstreamReach, endpoint: Endpoint, path: string): Promise<UpstreamModels> => {
  const request = requestTo(endpoint, path)
  const headers = { ...request.headers, 'content-type': 'application/json' }
  const reply = await sendAuthorized(reach, endpoint, { ...request, headers, method: 'POST', body: '{}' })
  const trouble = troubleOf(reply)
  const lacks = trouble?.trouble === 'provider_error' && (trouble.status === 400 || trouble.status === 422)
  return trouble === null || lacks ? { ok: true, models: [] } : trouble
}

const requestTo = (endpoint: Endpoint, path: string): UpstreamRequest => ({
  url: `${endpoint.baseUrl}${path}`,
  method: 'GET',
  headers: { ...providerFormats[endpoint.format].headers(endpoint), accept: 'application/json' },
})

/** Returns null for a successful answer. */
const troubleOf = (reply: UpstreamReply): Extract<UpstreamModels, { ok: false }> | null => {
  if (reply.kind === 'trouble') {
    const [trouble, message] = troubles[reply.trouble]
    return failed(trouble, message)
  }
  const { status, text } = reply
  if (status >= 200 && status < 300) return null
  if (status === 401 || status === 403 || (status === 400 && wrongKey.test(text)))
    return failed('key_refused', 'The provider refused the key.', status)
  if (status === 404) return failed('no_list', 'The provider has no model list at this URL.', status)
  return failed('provider_error', `The provider responded with status ${status}.`, status)
}

/** Google and xAI report a wrong key as an invalid argument. */
const wrongKey = /api[ _]key[ _](?:not valid|invalid)|incorrect api key/i

const troubles: Readonly<
  Record<Extract<UpstreamReply, { kind: 'trouble' }>['trouble'], readonly [UpstreamFailure, string]>
> = {
  refused: ['address_refused', addressNotAllowed],
  timeout: ['timeout', 'The provider did not respond in time.'],
  unreachable: ['unreachable', 'The provider cannot be reached.'],
  cut: ['unreachable', 'The provider ended its stream early.'],
  too_large: ['unreadable', 'The response of the provider is too large.'],
}

/** The error message for a key that cannot be decrypted. */
export const lostKeyMessage = 'The key can no longer be decrypted. Set it again.'

/** Result when no provider was called, because the stored key cannot be decrypted. */
export const withoutKey: UpstreamModels = { ok: false, trouble: 'key_refused', message: lostKeyMessage, status: null }

const failed = (
  trouble: UpstreamFailure,
  message: string,
  status: number | null = null,
): Extract<UpstreamModels, { ok: false }> => ({ ok: false, trouble, message, status })

const modelOf = ({ id, name, contextWindow }: ListedModel): SyncedModel => {
  const known = textOf(id)
  const shown = textOf(name).slice(0, maxIdLength).toWellFormed() || known
  return { id: known, name: shown, context_window: countOf(contextWindow) }
}

/** Whether an id is printable ASCII of an acceptable length, so that paths and logs can contain it. */
const isUsable = ({ id }: SyncedModel): boolean => id !== '' && id.length <= maxIdLength && /^[\x21-\x7e]+$/.test(id)
