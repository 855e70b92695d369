import { described, nullable, object, optional, string } from './dsl/schema.ts'

/** Decimal text: money is never a float. With six digits more it is the price of one. */
const amount = (description: string) =>
  optional(nullable(described(string({ pattern: '^\\d{1,9}(\\.\\d{1,12})?$' }), description)))

const fields = {
  input_per_million_usd: amount('USD for a million input tokens.'),
  output_per_million_usd: amount('USD for a million output tokens.'),
  cached_input_per_million_usd: amount('USD for a million input tokens from the cache. Default: as other input.'),
  characters_per_million_usd: amount('USD for a million characters made speech.'),
  audio_minute_usd: amount('USD for a minute of audio made text.'),
  image_usd: amount('USD for an image.'),
  call_usd: amount('USD for each call, beside its tokens.'),
}

/** Prices that a project or an operator has set, in USD as decimal text. */
export type OwnPrices = { readonly [Name in keyof typeof fields]?: string | null }

/** The names of such prices. */
export const ownPriceNames: ReadonlySet<string> = new Set(Object.keys(fields))

/** Prices of a project's own at a provider or server, where no list has them. */
export const ownPrices = described(
  nullable(
    object(fields, { title: 'OwnPrices', description: 'Prices that you set. Budgets and usage count by them.' }),
  ),
  'Your own prices, instead of the list. Budgets and usage count by them. Null: the list.',
)
