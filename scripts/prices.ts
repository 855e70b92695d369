import { readFileSync, writeFileSync } from 'node:fs'
import { Decimal } from 'decimal.js'
import { type PriceRow, type PriceTable, type PriceTier, priceTable } from '../src/actors/gateway/price-table.ts'
import { isObject, objectOf, textOf, type WireObject } from '../src/actors/gateway/wire.ts'

/**
 * Slims a price list of the `litellm` wheel down to what we route to, and writes `specs/prices.json`.
 *
 * Usage: node scripts/prices.ts <model_prices_and_context_window_backup.json> <wheel version> <today>
 * The file lies inside the wheel: `pip download --no-deps litellm` and unzip it. Licence: NOTICE.
 */
const [file, version, date] = process.argv.slice(2)
if (file === undefined || version === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(date ?? '')) {
  throw new Error('usage: node scripts/prices.ts <file> <version> <yyyy-mm-dd>')
}

const providers: Readonly<Record<string, PriceRow['provider']>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  gemini: 'google',
}
const capabilityFields: Readonly<Record<string, string>> = {
  supports_function_calling: 'tools',
  supports_vision: 'vision',
  supports_reasoning: 'reasoning',
  supports_response_schema: 'structuredOutput',
  supports_pdf_input: 'fileInput',
  supports_video_input: 'videoInput',
  supports_audio_input: 'audioInput',
  supports_prompt_caching: 'caching',
  supports_web_search: 'search',
}
/** Models that speak, sing, draw or only answer on other routes than chat and embeddings. */
const otherKinds = /audio|tts|lyria|realtime|image|deep-research|robotics|live|container|computer-use/

const list = objectOf(JSON.parse(readFileSync(file, 'utf8')))
const models: Record<string, PriceRow> = { 'simulated-1': simulatedRow() }
for (const [key, fields] of Object.entries(list)) {
  const id = key.replace(/^gemini\//, '')
  const row = isObject(fields) ? rowOf(id, fields) : undefined
  if (row !== undefined && models[id] === undefined) models[id] = row
}
const sorted = Object.fromEntries(Object.entries(models).sort(([a], [b]) => (a < b ? -1 : 1)))
const table: PriceTable = { source: 'litellm', version, date: date ?? '', currency: 'USD', models: sorted }
writeFileSync(new URL('../specs/prices.json', import.meta.url), `${JSON.stringify(table)}\n`)
priceTable(table)
process.stdout.write(`${Object.keys(sorted).length} models\n`)

function rowOf(id: string, fields: WireObject): PriceRow | undefined {
  const provider = providers[textOf(fields.litellm_provider)]
  const mode = fields.mode
  if (provider === undefined || (mode !== 'chat' && mode !== 'embedding')) return undefined
  if (otherKinds.test(id) || id.includes('/') || id.startsWith('ft:') || !givesText(fields)) return undefined
  const input = decimal(fields.input_cost_per_token)
  // 0 stands for "nobody knows" in the list (retired experiments); an unknown price is left out, never given as free.
  if (input === undefined || input === '0') return undefined
  return {
    provider,
    mode,
    input,
    ...optional('output', mode === 'chat' ? decimal(fields.output_cost_per_token) : undefined),
    ...optional('cached', decimal(fields.cache_read_input_token_cost)),
    ...optional('reasoning', decimal(fields.output_cost_per_reasoning_token)),
    ...optional('tiers', tiersOf(fields)),
    context: typeof fields.max_input_tokens === 'number' ? fields.max_input_tokens : 0,
    ...optional('max_output', typeof fields.max_output_tokens === 'number' ? fields.max_output_tokens : undefined),
    capabilities: Object.entries(capabilityFields).flatMap(([field, name]) => (fields[field] === true ? [name] : [])),
    ...optional('sampling', takesSampling(provider, fields) ? undefined : false),
    ...optional('retires', typeof fields.deprecation_date === 'string' ? fields.deprecation_date : undefined),
  }
}

/** Prices that hold for the whole call once its input is longer than so many tokens. */
function tiersOf(fields: WireObject): readonly PriceTier[] | undefined {
  const tiers = Object.keys(fields).flatMap((field) => {
    const thousands = /^input_cost_per_token_above_(\d+)k_tokens$/.exec(field)?.[1]
    if (thousands === undefined) return []
    const suffix = `_above_${thousands}k_tokens`
    return [
      {
        above: Number(thousands) * 1000,
        ...optional('input', decimal(fields[field])),
        ...optional('output', decimal(fields[`output_cost_per_token${suffix}`])),
        ...optional('cached', decimal(fields[`cache_read_input_token_cost${suffix}`])),
      },
    ]
  })
  return tiers.length === 0 ? undefined : tiers.sort((a, b) => a.above - b.above)
}

/** OpenAI's reasoning models refuse `temperature`; the list says so only for the others. */
function takesSampling(provider: string, fields: WireObject): boolean {
  return fields.supports_sampling_params !== false && !(provider === 'openai' && fields.supports_reasoning === true)
}

function givesText(fields: WireObject): boolean {
  return !Array.isArray(fields.supported_output_modalities) || fields.supported_output_modalities.includes('text')
}

/** Plain decimal text: the shortest decimal that reads back as the number in the list, without an exponent. */
function decimal(value: unknown): string | undefined {
  return typeof value === 'number' ? new Decimal(value).toFixed() : undefined
}

/** An object with the entry, or without it when there is no value. */
function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  const entry: { [P in K]?: V } = {}
  if (value !== undefined) entry[key] = value
  return entry
}

/** A made-up price, so that costs can be tried without a key; `nominal` says so wherever it is shown. */
function simulatedRow(): PriceRow {
  return {
    provider: 'simulated',
    mode: 'chat',
    input: '0.000001',
    output: '0.000002',
    context: 128_000,
    capabilities: ['tools'],
    nominal: true,
  }
}
