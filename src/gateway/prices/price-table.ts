import { objectOf, textOf } from '#outgoing/wire.ts'
import { providers } from '#specs/data/providers.ts'

/** Kind of a model. `chat` models may also have vision, reasoning and search, listed in `capabilities`. */
export type ModelMode = 'chat' | 'embedding' | 'image' | 'speech' | 'transcription' | 'realtime'

/** Prices of one model in `specs/data/prices.json`: USD as decimal text, per token unless stated otherwise. */
export interface PriceRow {
  /** Id of `specs/data/providers.ts`. */
  readonly provider: string
  /** The provider's id of the model. */
  readonly id: string
  readonly mode: ModelMode
  /** Absent where the provider charges by another unit. */
  readonly input?: string
  /** Absent for embeddings, and when unknown. */
  readonly output?: string
  /** Input read from the provider's cache; `input` when absent. */
  readonly cached?: string
  /** Input written to the provider's cache; `input` when absent. */
  readonly cacheWrite?: string
  /** Input written to the provider's cache with an extended lifetime; `cacheWrite` when absent. */
  readonly cacheWriteLong?: string
  /** Reasoning tokens; `output` when absent. */
  readonly reasoning?: string
  /** Audio input of a chat model, uncached and cached; `input` and `cached` when absent. */
  readonly audioInput?: string
  readonly audioCached?: string
  /** Images in the input, uncached and cached; `input` and `cached` when absent. */
  readonly imageInput?: string
  readonly imageCached?: string
  /** Audio output of a chat model; `output` when absent. */
  readonly audioOutput?: string
  /** Per character of text converted to speech. */
  readonly character?: string
  /** Per second of audio, transcribed or generated. */
  readonly second?: string
  /** Per generated image, at the provider's default size and quality. */
  readonly image?: string
  /** Per call, in addition to its tokens: for models that search the web with every call. */
  readonly call?: string
  readonly tiers?: readonly PriceTier[]
  /** Context window in input tokens; 0 when unknown. */
  readonly context: number
  readonly max_output?: number
  readonly capabilities: readonly string[]
  /** False: the model rejects `temperature`. */
  readonly sampling?: boolean
  /** Date on which the provider retires the model. */
  readonly retires?: string
  /** The price is nominal (simulated models). */
  readonly nominal?: true
}

/** Prices that apply to the whole call when its input is longer than `above` tokens. */
export interface PriceTier {
  readonly above: number
  readonly input?: string
  readonly output?: string
  readonly cached?: string
  readonly cacheWrite?: string
  readonly cacheWriteLong?: string
}

/** Origin of a price snapshot. */
interface PriceStamp {
  readonly source: string
  readonly version: string
  /** Day on which the snapshot was taken. */
  readonly date: string
  readonly currency: 'USD'
}

/** The price file; rows are in the order of `specs/data/providers.ts`, then by id. */
export interface PriceFile extends PriceStamp {
  readonly rows: readonly PriceRow[]
}

/** The price snapshot with lookup tables. */
export interface PriceTable extends PriceFile {
  /** By provider id or alias, then by model id. */
  readonly byProvider: ReadonlyMap<string, ReadonlyMap<string, PriceRow>>
  /** By model id alone; when several providers sell a model, the first in `specs/data/providers.ts`. */
  readonly byId: ReadonlyMap<string, PriceRow>
}

/**
 * Builds the lookup tables of a parsed price file. It runs at every start and does not validate rows: the file is part
 * of the release, and `checkPrices` validated it when it was generated.
 *
 * @throws {Error} when the value is not a price file.
 */
export function priceTable(file: unknown): PriceTable {
  const parsed = objectOf(file)
  if (!isPriceFile(parsed)) throw new Error('specs/data/prices.json is not a price table')
  const byProvider = new Map<string, Map<string, PriceRow>>()
  for (const { id, aliases = [] } of providers) {
    const models = new Map<string, PriceRow>()
    for (const name of [id, ...aliases]) byProvider.set(name, models)
  }
  const byId = new Map<string, PriceRow>()
  for (const row of parsed.rows) {
    byProvider.get(row.provider)?.set(row.id, row)
    if (!byId.has(row.id)) byId.set(row.id, row)
  }
  return { ...parsed, byProvider, byId }
}

/** Validates every row of a table. @throws {Error} naming the first invalid row. */
export function checkPrices({ rows }: PriceTable): void {
  const wrong = rows.find((row) => !isPriceRow(row))
  if (wrong !== undefined) throw new Error(`specs/data/prices.json has a wrong row: ${wrong.provider}/${wrong.id}`)
}

const isPriceFile = (file: object): file is PriceFile => {
  const { version, date, currency, rows } = objectOf(file)
  return textOf(version) !== '' && textOf(date) !== '' && currency === 'USD' && Array.isArray(rows)
}

const isDecimal = (value: unknown): boolean => typeof value === 'string' && /^\d+(\.\d{1,18})?$/.test(value)

const priceFields = [
  'input',
  'output',
  'cached',
  'cacheWrite',
  'cacheWriteLong',
  'reasoning',
  'audioInput',
  'audioCached',
  'audioOutput',
  'imageInput',
  'imageCached',
  'character',
  'second',
  'image',
  'call',
]

function isPriceRow(row: unknown): boolean {
  const fields = objectOf(row)
  return (
    priceFields.every((name) => fields[name] === undefined || isDecimal(fields[name])) &&
    [fields.mode, fields.provider, fields.id].every((text) => textOf(text) !== '') &&
    typeof fields.context === 'number' &&
    Array.isArray(fields.capabilities) &&
    (fields.tiers === undefined || Array.isArray(fields.tiers))
  )
}
