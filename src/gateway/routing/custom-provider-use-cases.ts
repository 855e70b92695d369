import { randomUUID } from 'node:crypto'
import type { UseCases, UseCasesOf } from '#actors/call/use-cases.ts'
import { credentialAddress } from '#outgoing/credential-address.ts'
import { type Caller, unlessSame } from '#records/audit-note.ts'
import { Audited } from '#records/audited.ts'
import { timestampOf } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { openedOrNull } from '#records/secret-box.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { projectScope } from '#storage/index.ts'
import type { StoredKeyLimits } from '../call/pools/key-limits.ts'
import type { StoredTimeouts } from '../call/provider-timeouts.ts'
import { needsItsKey, requireUrl } from './connection-rules.ts'
import type { ConnectionParts } from './connection-use-cases.ts'
import { type CustomModel, type CustomProviderData, customKeyAad, customProviders } from './kinds.ts'
import type { Endpoint } from './managed-providers.ts'
import { customEndpoint } from './project-providers.ts'
import { nameRetirer } from './retired-names.ts'
import { type ProbeResult, probeChat } from './upstream/chat-probe.ts'
import { lostKeyMessage } from './upstream/upstream-models.ts'
import { loadSdk } from './upstream/upstream-request.ts'
import { newUuidFor } from './uuid.ts'

type TestCall = Pick<Parameters<UseCases['custom_providers.test']>[0], 'scope' | 'body'>
type NewProvider = Parameters<UseCases['custom_providers.create']>[0]['body']
type Change = Parameters<UseCases['custom_providers.update']>[0]['body']

const testTimeoutMs = 30_000
const defaultModel = 'gpt-3.5-turbo'

/**
 * Custom providers: servers that a project registered. No answer contains their keys; their models are stored with
 * them.
 */
export const customProviderUseCases = (parts: ConnectionParts): UseCasesOf<'custom_providers'> => {
  const { box, guard, own, now } = parts
  const table = new Table(parts.records, customProviders, now)
  const retire = nameRetirer(parts, table, ({ name }) => name)
  const changed = async <T>(project: string, work: Promise<T>): Promise<T> => {
    try {
      return await work
    } finally {
      own.changed(project)
    }
  }
  return {
    'custom_providers.list': async ({ scope }) => {
      const rows = await table.every(projectScope(scope.project), { ascending: true })
      return {
        providers: rows.toReversed().map((row) => ({ ...viewOf(row), custom_models: row.data.models.map(listed) })),
      }
    },
    'custom_providers.get': async ({ scope, params }) => {
      const row = found(await table.get(scope, params.provider_id))
      return { provider: { ...viewOf(row), custom_models: row.data.models.map(shown) } }
    },
    'custom_providers.create': async (call) => {
      const { scope, body } = call
      const named = { ...body, name: nameOf(body.name) }
      requireUrl(guard, body.baseUrl, 'baseUrl')
      const where = { project: scope.project, id: newUuidFor(call) }
      const data = newProvider(named, (key) => box.seal(key, customKeyAad(where)))
      const made = table.insert({ ...where, data, notices: [audited(call).line('created', where.id)] })
      // a request that is repeated after a crash finds its own row
      const row = (await changed(scope.project, made)) ?? (await table.get(scope, where.id))
      return { provider: viewOf(found(row)) }
    },
    'custom_providers.update': async (call) => {
      const { scope, params, body } = call
      const name = body.name === undefined ? undefined : nameOf(body.name)
      if (body.baseUrl !== undefined) requireUrl(guard, body.baseUrl, 'baseUrl')
      if (name !== undefined) await retire(scope, params.provider_id, name)
      const edit = ({ data, ...where }: Row<CustomProviderData>): CustomProviderData | null => {
        if (body.baseUrl !== undefined) requireKeyAt(data, body.baseUrl, body.apiKey)
        const seal = (key: string) => box.seal(key, customKeyAad(where))
        return unlessSame(data, withChange(data, { ...body, ...(name !== undefined && { name }) }, seal))
      }
      const work = table.change(scope, params.provider_id, { edit, notices: audited(call).changed() })
      return { provider: viewOf(found(await changed(scope.project, work))) }
    },
    'custom_providers.delete': async (call) => {
      const { scope, params } = call
      await retire(scope, params.provider_id)
      const removed = await changed(scope.project, table.remove(scope, params.provider_id, audited(call).removed()))
      if (!removed) throw notFound
      return { success: true }
    },
    'custom_providers.test': async (call) => {
      const tested = await toTest(parts, table, call)
      return tested === null ? { success: false, error: lostKeyMessage } : probed(parts, tested)
    },
  }
}

const probed = async (
  { guard, timeoutMs = testTimeoutMs }: ConnectionParts,
  { endpoint, model }: { readonly endpoint: Endpoint; readonly model: string },
): Promise<ResultOf<'custom_providers.test'>> => {
  await loadSdk(endpoint)
  const startedAt = performance.now()
  const result = await probeChat({ dispatcher: guard.dispatcher, timeoutMs }, endpoint, model)
  return testView(result, Math.round(performance.now() - startedAt))
}

const audited = (caller: Caller) => new Audited(caller, 'custom_provider')

/** Trims a name. A name must not look like `custom:<id>`, by which routing refers to a provider. */
const nameOf = (given: string): string => {
  const name = given.trim()
  if (name !== '' && !/^custom:/i.test(name)) return name
  const message = 'A name must not be blank or start with custom:.'
  throw new ServiceError('invalid_field', { param: 'name', message })
}

/**
 * Ensures that a stored key is only sent to the address for which it was set. A server without a key may move.
 *
 * @throws {ServiceError} `missing_field` for another address without its key.
 */
const requireKeyAt = (before: CustomProviderData, baseUrl: string, key: string | null | undefined): void => {
  if (before.api_key === null || key !== undefined) return
  if (credentialAddress(before.base_url) !== credentialAddress(baseUrl))
    throw needsItsKey({ url: 'baseUrl', key: 'apiKey' })
}

const trimmed = (url: string): string => url.replace(/(?<!\/)\/+$/, '')

const sealed = (key: string | null | undefined, seal: (key: string) => string): string | null =>
  key === undefined || key === null ? null : seal(key)

const newProvider = (given: NewProvider, seal: (key: string) => string): CustomProviderData => ({
  ...{ name: given.name, base_url: trimmed(given.baseUrl), api_format: given.format, is_active: true },
  fallback_to_managed: given.fallbackToManaged ?? false,
  weight: given.weight ?? 1,
  prices: given.prices ?? null,
  api_key: sealed(given.apiKey, seal),
  models: modelsFrom(given.models ?? [], []),
  ...optionsIn(given),
})

const withChange = (data: CustomProviderData, change: Change, seal: (key: string) => string): CustomProviderData => ({
  ...data,
  name: change.name ?? data.name,
  base_url: change.baseUrl === undefined ? data.base_url : trimmed(change.baseUrl),
  api_format: change.format ?? data.api_format,
  is_active: change.isActive ?? data.is_active,
  fallback_to_managed: change.fallbackToManaged ?? data.fallback_to_managed ?? false,
  weight: change.weight ?? data.weight ?? 1,
  prices: change.prices === undefined ? (data.prices ?? null) : change.prices,
  api_key: change.apiKey === undefined ? data.api_key : sealed(change.apiKey, seal),
  models: change.models === undefined ? data.models : modelsFrom(change.models, data.models),
  ...optionsIn(change),
})

type OptionsGiven = Pick<Change, 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'requestsPerMinute' | 'tokensPerMinute'>

/** Returns only the timeouts and limits that a body sets. */
const optionsIn = ({
  firstByteTimeoutMs,
  idleTimeoutMs,
  requestsPerMinute,
  tokensPerMinute,
}: OptionsGiven): StoredTimeouts & StoredKeyLimits => ({
  ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
  ...(tokensPerMinute !== undefined && { tokens_per_minute: tokensPerMinute }),
  ...(firstByteTimeoutMs !== undefined && { first_byte_timeout_ms: firstByteTimeoutMs }),
  ...(idleTimeoutMs !== undefined && { idle_timeout_ms: idleTimeoutMs }),
})

/**
 * Returns one model per id, with the last label given. Models that existed keep their ids, and their prices unless new
 * ones are given.
 */
const modelsFrom = (
  given: NonNullable<NewProvider['models']>,
  before: readonly CustomModel[],
): readonly CustomModel[] => {
  const last = new Map(given.map((model) => [model.modelId, model]))
  return [...last].map(([model_name, { name: display_name, prices }]) => {
    const known = before.find((model) => model.model_name === model_name)
    const kept = prices === undefined ? known?.prices : prices
    return {
      ...{ id: known?.id ?? randomUUID(), model_name, display_name, is_active: known?.is_active ?? true },
      prices: kept ?? null,
    }
  })
}

/**
 * Returns the server and model to test: a registered provider with its first active model, or the ones in the body;
 * null when the stored key cannot be decrypted.
 */
const toTest = async (
  { box }: ConnectionParts,
  table: Table<CustomProviderData>,
  { scope, body }: TestCall,
): Promise<{ readonly endpoint: Endpoint; readonly model: string } | null> => {
  if (body.provider_id !== undefined) {
    const row = found(await table.get(scope, body.provider_id))
    const model = body.model ?? row.data.models.find(({ is_active }) => is_active)?.model_name ?? defaultModel
    const { api_key: kept } = row.data
    const api_key = kept === null ? null : openedOrNull(box, kept, customKeyAad(row))
    if (kept !== null && api_key === null) return null
    return { endpoint: customEndpoint(row.id, { ...row.data, api_key }), model }
  }
  if (body.base_url === undefined) {
    throw new ServiceError('missing_field', { param: 'base_url', message: 'Send provider_id or base_url.' })
  }
  const { base_url, api_format, api_key = null } = body
  const endpoint = customEndpoint('', { base_url, api_format, api_key })
  return { endpoint, model: body.model ?? defaultModel }
}

const testView = (result: ProbeResult, latency_ms: number): ResultOf<'custom_providers.test'> => {
  if (result.ok) {
    const { model, content, usage } = result
    return { success: true, message: 'The server responds.', latency_ms, response: { model, content, usage } }
  }
  return { success: false, error: result.error, ...(!result.timedOut && { latency_ms }) }
}

const viewOf = ({ id, created_at, data }: Row<CustomProviderData>) => {
  const { name, base_url, api_format, is_active, fallback_to_managed = false, weight = 1, prices = null } = data
  const { first_byte_timeout_ms = null, idle_timeout_ms = null } = data
  const { requests_per_minute = null, tokens_per_minute = null } = data
  const switches = { is_active, fallback_to_managed, weight, prices, first_byte_timeout_ms, idle_timeout_ms }
  const limits = { requests_per_minute, tokens_per_minute }
  return { id, name, base_url, api_format, ...switches, ...limits, created_at: timestampOf(created_at) }
}

const listed = ({ id, model_name, display_name, prices = null }: CustomModel) => ({
  ...{ id, model_name, display_name, prices },
})

const shown = (model: CustomModel) => ({ ...listed(model), is_active: model.is_active })

const notFound = new ServiceError('not_found', { message: 'There is no such provider in this project.' })

const found = <T>(row: T | null): T => {
  if (row === null) throw notFound
  return row
}
