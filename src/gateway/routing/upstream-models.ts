import { addressNotAllowed } from '#outgoing/ssrf-guard.ts'
import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { WireFormat } from '#specs/data/providers.ts'
import type { SyncedModel } from './kinds.ts'
import type { Endpoint } from './managed-providers.ts'
import { lostKeyMessage } from './opened-key.ts'
import { sendUpstream, type UpstreamReach, type UpstreamReply, type UpstreamRequest } from './upstream-request.ts'

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

/** The headers in which each format sends the key. */
const keyHeaders: Readonly<Record<WireFormat, (key: string) => Readonly<Record<string, string>>>> = {
  openai: (key) => ({ authorization: `Bearer ${key}` }),
  anthropic: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  google: (key) => ({ 'x-goog-api-key': key }),
  perplexity: (key) => ({ authorization: `Bearer ${key}` }),
  elevenlabs: (key) => ({ 'xi-api-key': key }),
  deepgram: (key) => ({ authorization: `Token ${key}` }),
  cartesia: (key) => ({ 'x-api-key': key, 'cartesia-version': '2025-04-16' }),
  spitch: (key) => ({ authorization: `Bearer ${key}` }),
}

/** Headers that authenticate requests; without a key, only those that the format always requires. */
export const keyHeadersOf = ({
  format,
  apiKey,
}: Pick<Endpoint, 'format' | 'apiKey'>): Readonly<Record<string, string>> =>
  apiKey === null ? (format === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}) : keyHeaders[format](apiKey)

interface ListForm {
  /** Path of the list below the base URL; `after` is the cursor of the previous page. */
  readonly path: (after: string | null) => string
  readonly rows: (json: unknown) => readonly unknown[] | null
  readonly model: (row: WireObject) => SyncedModel
  /** Cursor of the next page; null on the last page. */
  readonly next: (json: unknown) => string | null
}

const lastPage = (): null => null

const forms: Readonly<Partial<Record<WireFormat, ListForm>>> = {
  openai: {
    path: () => '/models',
    // some servers return the bare list
    rows: (json) => listOf(json) ?? listOf(objectOf(json).data),
    model: (row) => modelOf(row.id, row.name ?? row.display_name, contextOf(row)),
    next: lastPage,
  },
  anthropic: {
    path: (after) => `/models?limit=1000${after === null ? '' : `&after_id=${encodeURIComponent(after)}`}`,
    rows: (json) => listOf(objectOf(json).data),
    model: (row) => modelOf(row.id, row.display_name, countOf(row.max_input_tokens)),
    next: (json) => (objectOf(json).has_more === true ? textOf(objectOf(json).last_id) || null : null),
  },
  google: {
    path: (after) => `/models?pageSize=1000${after === null ? '' : `&pageToken=${encodeURIComponent(after)}`}`,
    rows: (json) => listOf(objectOf(json).models),
    model: (row) => modelOf(textOf(row.name).replace(/^models\//, ''), row.displayName, countOf(row.inputTokenLimit)),
    next: (json) => textOf(objectOf(json).nextPageToken) || null,
  },
  elevenlabs: {
    path: () => '/models',
    rows: listOf,
    model: (row) => modelOf(row.model_id, row.name, 0),
    next: lastPage,
  },
  deepgram: {
    path: () => '/models',
    rows: (json) => {
      const { stt, tts } = objectOf(json)
      return Array.isArray(stt) || Array.isArray(tts) ? [...arrayOf(stt), ...arrayOf(tts)] : null
    },
    model: (row) => modelOf(row.canonical_name, row.name, 0),
    next: lastPage,
  },
}

/** Returns all models that the provider lists, sorted by id. Never throws. */
export const listModels = async (reach: UpstreamReach, endpoint: Endpoint): Promise<UpstreamModels> => {
  const form = forms[endpoint.format]
  if (form === undefined) return failed('no_list', 'The provider does not list its models.')
  const models = new Map<string, SyncedModel>()
  let after: string | null = null
  for (let page = 0; page < maxPages && models.size < maxModels; page++) {
    const reply: UpstreamReply = await sendUpstream(reach, requestTo(endpoint, form.path(after)))
    const trouble = troubleOf(reply)
    if (trouble !== null) return trouble
    const json = reply.kind === 'answer' ? reply.json : undefined
    const rows = form.rows(json)
    if (rows === null) return failed('unreadable', 'The provider returned something other than a list of models.')
    for (const row of rows.filter(isObject).map(form.model)) if (isUsable(row)) models.set(row.id, row)
    after = form.next(json)
    if (after === null) break
  }
  const sorted = [...models.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
  return { ok: true, models: sorted.slice(0, maxModels) }
}

/**
 * Checks whether the provider accepts the key, by a request that is free of charge. Providers with a public list, or
 * without one, are checked by other requests.
 */
export const checkKey = async (reach: UpstreamReach, endpoint: Endpoint): Promise<UpstreamModels> => {
  const probe = probes[endpoint.provider] ?? probes[endpoint.format]
  if (probe !== undefined) {
    const trouble = troubleOf(await sendUpstream(reach, requestTo(endpoint, probe)))
    return trouble ?? listed(await listModels(reach, endpoint))
  }
  const models = await listModels(reach, endpoint)
  const work = works[endpoint.format]
  return models.ok || models.trouble !== 'no_list' || work === undefined ? models : withoutList(reach, endpoint, work)
}

/** Path of an operation, below the base URL, for formats whose servers may have no list. */
const works: Readonly<Partial<Record<WireFormat, string>>> = {
  openai: '/chat/completions',
  perplexity: '/responses',
  spitch: '/speech',
}

/** Path, below the base URL, that requires a valid key. */
const probes: Readonly<Record<string, string>> = {
  openrouter: '/key',
  deepgram: '/projects',
  cartesia: '/voices?limit=1',
}

/** An accepted key counts as valid even when there is no list. */
const listed = (models: UpstreamModels): UpstreamModels =>
  models.ok || models.trouble !== 'no_list' ? models : { ok: true, models: [] }

/** Checks a key by an empty request: with a valid key, it is refused for its missing fields. */
const withoutList = async (reach: UpstreamReach, endpoint: Endpoint, path: string): Promise<UpstreamModels> => {
  const request = requestTo(endpoint, path)
  const headers = { ...request.headers, 'content-type': 'application/json' }
  const reply = await sendUpstream(reach, { ...request, headers, method: 'POST', body: '{}' })
  const trouble = troubleOf(reply)
  const lacks = trouble?.trouble === 'provider_error' && (trouble.status === 400 || trouble.status === 422)
  return trouble === null || lacks ? { ok: true, models: [] } : trouble
}

const requestTo = (endpoint: Endpoint, path: string): UpstreamRequest => ({
  url: `${endpoint.baseUrl}${path}`,
  method: 'GET',
  headers: { ...keyHeadersOf(endpoint), accept: 'application/json' },
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

/** Result when no provider was called, because the stored key cannot be decrypted. */
export const withoutKey: UpstreamModels = { ok: false, trouble: 'key_refused', message: lostKeyMessage, status: null }

const failed = (
  trouble: UpstreamFailure,
  message: string,
  status: number | null = null,
): Extract<UpstreamModels, { ok: false }> => ({ ok: false, trouble, message, status })

function listOf(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null
}

const contextOf = (row: WireObject): number =>
  [row.context_window, row.context_length, row.max_context_length, row.max_model_len].map(countOf).find(Boolean) ?? 0

const modelOf = (id: unknown, name: unknown, context_window: number): SyncedModel => {
  const known = textOf(id)
  return { id: known, name: textOf(name).slice(0, maxIdLength).toWellFormed() || known, context_window }
}

/** Whether an id is printable ASCII of an acceptable length, so that paths and logs can contain it. */
const isUsable = ({ id }: SyncedModel): boolean => id !== '' && id.length <= maxIdLength && /^[\x21-\x7e]+$/.test(id)
