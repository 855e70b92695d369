import type { CallPolicy } from './call-policy.ts'
import { LazyProvider } from './lazy-provider.ts'
import { catalogueRows, type ModelRow, type ProviderId, unknownRow } from './model-rows.ts'
import { OpenAiProvider } from './openai-provider.ts'
import type { OpenAiDialect } from './openai-wire.ts'
import { priceOf, prices } from './prices.ts'
import { ModelError, type ModelProvider } from './provider-port.ts'

/** A key and a base URL, as the environment names them. */
export interface ProviderKeys {
  readonly apiKey?: string | undefined
  readonly baseUrl?: string | undefined
}

/** Which providers the server may call. */
export interface ProvidersConfig {
  readonly openai?: ProviderKeys | undefined
  readonly anthropic?: ProviderKeys | undefined
  readonly google?: ProviderKeys | undefined
  /** `auto`: on when nothing else is configured. */
  readonly simulated: 'auto' | 'on' | 'off'
  /** Base URL of the running simulated provider; needed when `simulatedWanted` says so. */
  readonly simulatedUrl?: string | undefined
  /** Limits of every call; for tests and slow self-hosted models. */
  readonly policy?: Partial<CallPolicy> | undefined
}

/** A model and who answers for it. `model` is the id without a provider prefix, as the provider knows it. */
export interface ResolvedModel {
  readonly provider: ModelProvider
  readonly model: string
}

/** All providers of the server. */
export interface Providers {
  /** @throws {ModelError} `model_not_found` or `provider_not_configured` */
  resolve(model: string): ResolvedModel
  /** Rows of `/v1/models`: also models whose provider has no key, marked so. */
  list(): readonly ModelRow[]
  /** Asks a compatible server for its models, so that `list` shows them. Trouble leaves the list as it is. */
  refresh(signal: AbortSignal): Promise<void>
  /** For turns that name no model. */
  readonly defaultModel: string
  /** Whether answers are simulated because no provider has a key. */
  readonly onlySimulated: boolean
  close(): Promise<void>
}

const openAiBaseUrl = 'https://api.openai.com/v1'
const prefix = /^(openai|anthropic|google|gemini|simulated)\/(.+)$/
const families: readonly (readonly [RegExp, ProviderId])[] = [
  [/^simulated(-|$)/, 'simulated'],
  [/^(gpt-|chatgpt-|o\d|text-embedding-)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'google'],
]
const defaultModels: readonly (readonly [ProviderId, string])[] = [
  ['openai', 'gpt-4o-mini'],
  ['anthropic', 'claude-haiku-4-5'],
  ['google', 'gemini-2.5-flash'],
  ['simulated', 'simulated-1'],
]

/** Whether the simulated provider has to be running before `openProviders` is called. */
export function simulatedWanted(config: ProvidersConfig): boolean {
  return config.simulated === 'on' || (config.simulated === 'auto' && !hasRealProvider(config))
}

/** Opens connections lazily: nothing is sent before the first call. */
export function openProviders(config: ProvidersConfig): Providers {
  const open = openAll(config)
  const compatible = open.openai !== undefined && !isOwnOpenAi(config.openai?.baseUrl) ? open.openai : undefined
  let rows = rowsOf(open, compatible === undefined ? null : [])

  return {
    resolve(asked) {
      const { family, model } = familyOf(asked)
      if (family === undefined || (family === 'simulated' && open.simulated === undefined)) {
        if (compatible === undefined) throw new ModelError('model_not_found', 'No provider offers this model.')
        return { provider: compatible, model: asked }
      }
      const provider = open[family]
      if (provider !== undefined) return { provider, model }
      throw new ModelError('provider_not_configured', 'The provider of this model has no key.')
    },
    list: () => rows,
    async refresh(signal) {
      const ids = await compatible?.listModels(signal).catch(() => undefined)
      if (ids !== undefined) rows = rowsOf(open, ids)
    },
    defaultModel: defaultModels.find(([id]) => open[id] !== undefined)?.[1] ?? 'simulated-1',
    onlySimulated: Object.keys(open).join() === 'simulated',
    async close() {
      await Promise.all(Object.values(open).map((provider) => provider.close()))
    },
  }
}

interface OpenProviders {
  openai?: OpenAiProvider
  anthropic?: LazyProvider
  google?: LazyProvider
  simulated?: OpenAiProvider
}

function openAll(config: ProvidersConfig): OpenProviders {
  const policy = config.policy === undefined ? {} : { policy: config.policy }
  const { openai, anthropic, google, simulatedUrl } = config
  const open: OpenProviders = {}
  if (openai !== undefined && isConfigured(openai)) {
    const dialect = isOwnOpenAi(openai.baseUrl) ? ownDialect : compatibleDialect
    open.openai = new OpenAiProvider({ id: 'openai', baseUrl: openAiBaseUrl, dialect, ...given(openai), ...policy })
  }
  if (anthropic?.apiKey !== undefined) {
    const options = { ...given(anthropic), apiKey: anthropic.apiKey, ...policy }
    open.anthropic = new LazyProvider('anthropic', async () => {
      const { AnthropicProvider } = await import('./anthropic-provider.ts')
      return new AnthropicProvider(options)
    })
  }
  if (google?.apiKey !== undefined) {
    const options = { ...given(google), apiKey: google.apiKey, ...policy }
    open.google = new LazyProvider('google', async () => {
      const { GoogleProvider } = await import('./google-provider.ts')
      return new GoogleProvider(options)
    })
  }
  if (simulatedWanted(config)) {
    if (simulatedUrl === undefined) throw new Error('the simulated provider is wanted and has no URL')
    open.simulated = new OpenAiProvider({
      id: 'simulated',
      baseUrl: simulatedUrl,
      dialect: compatibleDialect,
      ...policy,
    })
  }
  return open
}

/** A server of one's own often wants no key: a base URL other than OpenAI's is enough. */
const isConfigured = (keys: ProviderKeys): boolean => keys.apiKey !== undefined || !isOwnOpenAi(keys.baseUrl)

const hasRealProvider = ({ openai, anthropic, google }: ProvidersConfig): boolean =>
  (openai !== undefined && isConfigured(openai)) || anthropic?.apiKey !== undefined || google?.apiKey !== undefined

const isOwnOpenAi = (baseUrl: string | undefined): boolean =>
  baseUrl === undefined || new URL(baseUrl).host === new URL(openAiBaseUrl).host

function given({ apiKey, baseUrl }: ProviderKeys): { apiKey?: string; baseUrl?: string } {
  return { ...(apiKey === undefined ? {} : { apiKey }), ...(baseUrl === undefined ? {} : { baseUrl }) }
}

const ownDialect: OpenAiDialect = {
  maxTokensField: 'max_completion_tokens',
  acceptsTemperature: (model) => priceOf(model)?.sampling !== false,
}

const compatibleDialect: OpenAiDialect = { maxTokensField: 'max_tokens', acceptsTemperature: () => true }

/** By prefix, then by the snapshot, then by the shape of the id: a model that came out yesterday is found too. */
function familyOf(asked: string): { family: ProviderId | undefined; model: string } {
  const named = prefix.exec(asked)
  const [, provider, rest] = named ?? []
  if (rest !== undefined) {
    const family = families.find(([, id]) => id === provider)?.[1] ?? 'google'
    return { family, model: rest }
  }
  const known = families.find(([, id]) => prices.byProvider.get(id)?.has(asked) === true)?.[1]
  return { family: known ?? families.find(([shape]) => shape.test(asked))?.[1], model: asked }
}

/** A compatible server has what it lists (`offered`), not what OpenAI sells; null when it is OpenAI itself. */
function rowsOf(open: OpenProviders, offered: readonly string[] | null): ModelRow[] {
  const configured = new Set(families.map(([, id]) => id).filter((id) => open[id] !== undefined))
  const listed: ProviderId[] = ['openai', 'anthropic', 'google']
  if (open.simulated !== undefined) listed.push('simulated')
  const today = new Date().toISOString().slice(0, 10)
  const rows = catalogueRows(prices, listed, configured, today).filter(
    (row) => offered === null || row.provider !== 'openai' || offered.includes(row.id),
  )
  const known = new Set(rows.map((row) => row.id))
  const created = Math.floor(Date.parse(prices.date) / 1000)
  const others = (offered ?? []).filter((id) => !known.has(id)).map((id) => unknownRow(id, 'openai', created))
  return [...others, ...rows]
}
