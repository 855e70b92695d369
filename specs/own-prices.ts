import { described, nullable, object, optional, string } from './dsl/schema.ts'

/** Decimal text, since floats are inexact for money. The price of a single unit has up to six decimals more. */
const amount = (description: string) =>
  optional(nullable(described(string({ pattern: '^\\d{1,9}(\\.\\d{1,12})?$' }), description)))

const fields = {
  input_per_million_usd: amount('Price in USD per million input tokens.'),
  output_per_million_usd: amount('Price in USD per million output tokens.'),
  cached_input_per_million_usd: amount(
    'Price in USD per million cached input tokens. Default: the price of other input tokens.',
  ),
  characters_per_million_usd: amount('Price in USD per million characters converted to speech.'),
  audio_minute_usd: amount('Price in USD per minute of transcribed audio.'),
  image_usd: amount('Price in USD per image.'),
  call_usd: amount('Price in USD per call, in addition to its tokens.'),
}

/** Prices that a project or an operator has set, in USD as decimal text. */
export type OwnPrices = { readonly [Name in keyof typeof fields]?: string | null }

/** Field names of own prices. */
export const ownPriceNames: ReadonlySet<string> = new Set(Object.keys(fields))

/** A project's own prices for a provider or server, which replace the list prices. */
export const ownPrices = described(
  nullable(
    object(fields, { title: 'OwnPrices', description: 'Prices that you set. Budgets and usage count by them.' }),
  ),
  'Your own prices, which replace the list prices in budgets and usage. Null for list prices.',
)
