import { objectOf, textOf } from '#outgoing/wire.ts'
import { providers } from '#specs/data/providers.ts'

/** What a model makes. `chat` models may also see, reason and search; `capabilities` says so. */
export type ModelMode = 'chat' | 'embedding' | 'image' | 'speech' | 'transcription'

/** Prices of one model in `specs/data/prices.json`: USD as decimal text, a token where nothing else is said. */
export interface PriceRow {
  /** Id of `specs/data/providers.ts`. */
  readonly provider: string
  /** As its provider knows it. */
  readonly id: string
  readonly mode: ModelMode
  /** Absent where the provider charges by another unit. */
  readonly input?: string
  /** Absent for embeddings, and where the list does not say. */
  readonly output?: string
  /** Input read from the provider's cache; `input` when absent. */
  readonly cached?: string
  /** Input written to the provider's cache; `input` when absent. */
  readonly cacheWrite?: string
  /** The same, kept longer than usual; `cacheWrite` when absent. */
  readonly cacheWriteLong?: string
  /** Reasoning tokens; `output` when absent. */
  readonly reasoning?: string
  /** Audio that a chat model hears, and what of it comes from the cache: `input` and `cached` when absent. */
  readonly audioInput?: string
  readonly audioCached?: string
  /** Audio that a chat model speaks; `output` when absent. */
  readonly audioOutput?: string
  /** A character of text made speech. */
  readonly character?: string
  /** A second of audio: made into text, or spoken. */
  readonly second?: string
  /** One image made, of the provider's usual size and quality. */
  readonly image?: string
  /** Each call on top of its tokens: models that search the web with every call. */
  readonly call?: string
  readonly tiers?: readonly PriceTier[]
  /** Input tokens that the model takes; 0 when unknown. */
  readonly context: number
  readonly max_output?: number
  readonly capabilities: readonly string[]
  /** False: the model refuses `temperature`. */
  readonly sampling?: boolean
  /** Date on which the provider takes it away. */
  readonly retires?: string
  /** The price is made up (simulated models). */
  readonly nominal?: true
}

/** Prices of a whole call whose input is longer than `above` tokens. */
export interface PriceTier {
  readonly above: number
  readonly input?: string
  readonly output?: string
  readonly cached?: string
  readonly cacheWrite?: string
  readonly cacheWriteLong?: string
}

/** Where a snapshot comes from. */
export interface PriceStamp {
  readonly source: string
  readonly version: string
  /** Day on which the snapshot was taken. */
  readonly date: string
  readonly currency: 'USD'
}

/** The file: rows in the order of `specs/data/providers.ts`, then by id. */
export interface PriceFile extends PriceStamp {
  readonly rows: readonly PriceRow[]
}

/** The snapshot with its stamp. */
export interface PriceTable extends PriceFile {
  /** By provider, also under its aliases, and then by id. */
  readonly byProvider: ReadonlyMap<string, ReadonlyMap<string, PriceRow>>
  /** By id alone: of several providers that sell it, the first of `specs/data/providers.ts`. */
  readonly byId: ReadonlyMap<string, PriceRow>
}

/**
 * Reads a parsed price file. Every start does so: rows are taken as they are, since the file is ours and `checkPrices`
 * has gone over it when it was made.
 *
 * @throws {Error} when the file is something else.
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

/** Goes over every row of a table. @throws {Error} naming the first that is not right. */
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
