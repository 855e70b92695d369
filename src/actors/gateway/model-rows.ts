import type { PriceRow, PriceTable } from './price-table.ts'

/** Ids of the provider families. */
export type ProviderId = 'openai' | 'anthropic' | 'google' | 'simulated'

/** One row of `/v1/models`: the fields of the unified registry and of the gateway's list together. */
export interface ModelRow {
  readonly id: string
  readonly object: 'model'
  /** Seconds since the epoch. Providers do not tell when a model came; it is the day of the price snapshot. */
  readonly created: number
  readonly owned_by: string
  readonly name: string
  readonly provider: ProviderId
  readonly source: 'service' | 'byok' | 'custom'
  readonly connection_id: string | null
  /** The first of `types`. */
  readonly type: string
  readonly types: readonly string[]
  /** 0 when unknown. */
  readonly context_window: number
  readonly description: string
  readonly status: 'active' | 'deprecated'
  readonly available: boolean
  readonly unavailable_reason: 'provider_not_configured' | null
  /** `nominal`: made up, for the simulated model. */
  readonly pricing_status: 'priced' | 'nominal' | 'unknown'
}

const names: Readonly<Record<ProviderId, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  simulated: 'the simulated provider',
}

/** Rows of all models in the price snapshot that belong to one of `listed`. */
export function catalogueRows(
  table: PriceTable,
  listed: readonly ProviderId[],
  configured: ReadonlySet<ProviderId>,
  today: string,
): ModelRow[] {
  const created = Math.floor(Date.parse(table.date) / 1000)
  return listed.flatMap((provider) =>
    [...(table.byProvider.get(provider)?.values() ?? [])]
      .filter(({ mode }) => mode === 'chat' || mode === 'embedding')
      .map((row) => catalogueRow(row, { provider, created, available: configured.has(provider), today })),
  )
}

/** A row of a model that a compatible server lists and the snapshot does not know. */
export function unknownRow(id: string, provider: ProviderId, created: number): ModelRow {
  const types = ['chat']
  const description = 'Listed by the configured OpenAI-compatible server.'
  return {
    ...{ id, object: 'model', created, owned_by: provider, name: id, provider, source: 'service' },
    ...{ connection_id: null, type: 'chat', types, context_window: 0, description, status: 'active' },
    ...{ available: true, unavailable_reason: null, pricing_status: 'unknown' },
  }
}

interface RowFacts {
  readonly provider: ProviderId
  readonly created: number
  readonly available: boolean
  readonly today: string
}

function catalogueRow(row: PriceRow, { provider, created, available, today }: RowFacts): ModelRow {
  const { id, context } = row
  const types = typesOf(id, row)
  return {
    id,
    object: 'model',
    created,
    owned_by: provider,
    name: id,
    provider,
    source: 'service',
    connection_id: null,
    type: types[0] ?? 'chat',
    types,
    context_window: context,
    description: describe(row, provider),
    status: row.retires !== undefined && row.retires <= today ? 'deprecated' : 'active',
    available,
    unavailable_reason: available ? null : 'provider_not_configured',
    pricing_status: row.nominal === true ? 'nominal' : 'priced',
  }
}

function typesOf(id: string, row: PriceRow): string[] {
  if (row.mode === 'embedding') return ['embedding']
  const types = ['chat']
  for (const type of ['reasoning', 'vision']) if (row.capabilities.includes(type)) types.push(type)
  if (/search/.test(id)) types.push('search')
  if (/code|codex/.test(id)) types.push('code')
  if (row.provider === 'simulated') types.push('embedding')
  return types
}

function describe(row: PriceRow, provider: ProviderId): string {
  const kind = row.mode === 'embedding' ? 'Embedding model' : 'Chat model'
  const window = row.context === 0 ? '' : `, ${row.context.toLocaleString('en-US')} tokens of context`
  const note = row.nominal === true ? ' Echoes what it is told; its price is made up.' : ''
  return `${kind} of ${names[provider]}${window}.${note}`
}
