import { isObject, objectOf, textOf } from './wire.ts'

/** Prices of one model in `specs/prices.json`: USD a token, as decimal text. */
export interface PriceRow {
  readonly provider: 'openai' | 'anthropic' | 'google' | 'simulated'
  readonly mode: 'chat' | 'embedding'
  readonly input: string
  /** Absent for embeddings, and where the list does not say. */
  readonly output?: string
  /** Input read from the provider's cache; `input` when absent. */
  readonly cached?: string
  /** Reasoning tokens; `output` when absent. */
  readonly reasoning?: string
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
}

/** The snapshot with its stamp. */
export interface PriceTable {
  readonly source: string
  readonly version: string
  /** Day on which the snapshot was taken. */
  readonly date: string
  readonly currency: 'USD'
  readonly models: Readonly<Record<string, PriceRow>>
}

/** Checks that a parsed file is a price table. @throws {Error} naming the first row that is not right. */
export function priceTable(file: unknown): PriceTable {
  const table = objectOf(file)
  if (!isPriceTable(table)) throw new Error('specs/prices.json is not a price table')
  for (const [id, row] of Object.entries(table.models)) {
    if (!isPriceRow(row)) throw new Error(`specs/prices.json has a wrong row: ${id}`)
  }
  return table
}

const isDecimal = (value: unknown): boolean => typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)

const isPriceTable = (table: object): table is PriceTable => {
  const { version, date, currency, models } = objectOf(table)
  return textOf(version) !== '' && textOf(date) !== '' && currency === 'USD' && isObject(models)
}

function isPriceRow(row: unknown): boolean {
  const { input, output, cached, reasoning, context, capabilities, tiers } = objectOf(row)
  const prices = [output, cached, reasoning].every((price) => price === undefined || isDecimal(price))
  return (
    isDecimal(input) &&
    prices &&
    typeof context === 'number' &&
    Array.isArray(capabilities) &&
    (tiers === undefined || Array.isArray(tiers))
  )
}
