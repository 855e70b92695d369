import { providers, type WireFormat } from '#specs/data/providers.ts'
import type { PriceRow } from '../prices/price-table.ts'
import { priceAt, prices } from '../prices/prices.ts'
import { speechModelOf, transcriptionModelOf } from '../prices/voice-models.ts'
import { serves } from '../providers/provider-formats.ts'
import type { SyncedModel } from './kinds.ts'

/** One row of `/v1/models`, with the fields of both the model registry and OpenAI's model list. */
export interface ModelRow {
  readonly id: string
  readonly object: 'model'
  /**
   * Seconds since the epoch. Providers do not report when a model was released, so this is the date of the price list.
   */
  readonly created: number
  readonly owned_by: string
  readonly name: string
  /** Id of `specs/data/providers.ts`, a connection's own name, or `custom:<id>`. */
  readonly provider: string
  readonly source: 'service' | 'byok' | 'custom'
  readonly connection_id: string | null
  /** First entry of `types`. */
  readonly type: string
  readonly types: readonly string[]
  /** 0 when unknown. */
  readonly context_window: number
  readonly description: string
  readonly status: 'active' | 'deprecated'
  readonly available: boolean
  readonly unavailable_reason: 'provider_not_configured' | 'no_endpoint' | null
  /** `nominal`: a fictitious price, for the simulated model. */
  readonly pricing_status: 'priced' | 'nominal' | 'unknown'
}

/** Owner of a row, and whether its model can be called. */
export type RowOrigin = Pick<ModelRow, 'source' | 'connection_id' | 'available'>

/** Providers that a request has to name. */
const named: ReadonlySet<string> = new Set(providers.flatMap(({ id, byName }) => (byName === true ? [id] : [])))

const created = Math.floor(Date.parse(prices.date) / 1000)

const names: ReadonlyMap<string, string> = new Map(
  providers.map(({ id, name }) => [id, id === 'simulated' ? 'the simulated provider' : name]),
)

/** Returns the row of a model in the price list. @param today as `2026-11-21`. */
export function catalogueRow(row: PriceRow, origin: RowOrigin, today: string): ModelRow {
  const types = typesOf(row)
  return {
    id: prices.byId.get(row.id) === row && !named.has(row.provider) ? row.id : `${row.provider}/${row.id}`,
    object: 'model',
    created,
    owned_by: row.provider,
    name: row.id,
    provider: row.provider,
    ...origin,
    available: origin.available && isTaken(row),
    type: types[0] ?? 'chat',
    types,
    context_window: row.context,
    description: describe(row),
    status: row.retires !== undefined && row.retires <= today ? 'deprecated' : 'active',
    unavailable_reason: !origin.available ? 'provider_not_configured' : isTaken(row) ? null : 'no_endpoint',
    pricing_status: row.nominal === true ? 'nominal' : 'priced',
  }
}

/** Describes a provider's own list of models. */
export interface Listing {
  readonly provider: string
  readonly origin: RowOrigin
  readonly description: string
}

/**
 * Returns the row of a model that the provider itself lists, with data of the price list where available.
 * @param today as `2026-11-21`.
 */
export function listedRow(model: SyncedModel, { provider, origin, description }: Listing, today: string): ModelRow {
  const { id, name, context_window } = model
  const known = priceAt(provider, id)
  if (known !== undefined) return { ...catalogueRow(known, origin, today), id, name, description }
  return {
    ...{ id, object: 'model', created, owned_by: provider, name, provider, ...origin },
    ...{ type: 'chat', types: ['chat'], context_window, description, status: 'active' },
    ...{ unavailable_reason: null, pricing_status: 'unknown' },
  }
}

/** Whether an endpoint of the gateway supports a model: the price list has more models than the gateway supports. */
const isTaken = ({ mode, provider, id }: PriceRow): boolean => {
  const format = formats.get(provider)
  switch (mode) {
    case 'speech':
      return speechModelOf(`${provider}/${id}`) !== null
    case 'transcription':
      return transcriptionModelOf(`${provider}/${id}`) !== null
    default:
      return format !== undefined && serves(format, mode)
  }
}

const formats: ReadonlyMap<string, WireFormat> = new Map(providers.map(({ id, format }) => [id, format]))

function typesOf({ id, mode, provider, capabilities }: PriceRow): string[] {
  if (mode !== 'chat') return [mode]
  const types = ['chat']
  for (const type of ['reasoning', 'vision']) if (capabilities.includes(type)) types.push(type)
  if (/search/.test(id)) types.push('search')
  if (/code|codex/.test(id)) types.push('code')
  if (provider === 'simulated') types.push('embedding', 'image')
  return types
}

const kinds: Readonly<Record<PriceRow['mode'], string>> = {
  chat: 'Chat model',
  embedding: 'Embedding model',
  image: 'Image model',
  speech: 'Speech model',
  transcription: 'Transcription model',
  realtime: 'Realtime model',
}

function describe(row: PriceRow): string {
  const window = row.context === 0 ? '' : `, ${row.context.toLocaleString('en-US')} tokens of context`
  const note = row.nominal === true ? ' Echoes what it is told; its price is made up.' : ''
  return `${kinds[row.mode]} of ${names.get(row.provider) ?? row.provider}${window}.${note}`
}
