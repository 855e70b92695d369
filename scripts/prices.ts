import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readArguments, refuseCommandLine } from '#src/start/command-line.ts'
import { providers } from '../specs/data/providers.ts'
import { checkPrices, type PriceFile, priceTable } from '../src/gateway/prices/price-table.ts'
import { isBedrockEmbedder } from '../src/gateway/providers/bedrock/bedrock-embeddings.ts'
import { isBedrockImager } from '../src/gateway/providers/bedrock/bedrock-images.ts'
import { isObject, objectOf, textOf, type WireObject } from '../src/outgoing/wire.ts'
import { type SlimRow, slimRow } from './prices/slim-row.ts'

/**
 * Reduces the price list of the `litellm` wheel to the supported providers, and writes `specs/data/prices.json`.
 *
 * FILE is `model_prices_and_context_window_backup.json` from the wheel (`pip download --no-deps litellm`, then unzip
 * it), VERSION is the wheel's version, and the date is today. Licence: NOTICE.
 */
const usage = 'usage: node scripts/prices.ts FILE VERSION YYYY-MM-DD'
const [file = '', version = '', date = ''] = readArguments({ usage, options: {} }).positionals
if (version === '' || !/^\d{4}-\d{2}-\d{2}$/.test(date))
  refuseCommandLine(usage, 'The file, its version and the date are required.')
if (!existsSync(file)) refuseCommandLine(usage, `There is no file ${file}.`)

/** Providers whose id in the list differs from ours. */
const ours: Readonly<Record<string, string>> = {
  ...{ gemini: 'google', together_ai: 'together', fireworks_ai: 'fireworks', azure: 'azure-openai' },
  ...{ bedrock_converse: 'bedrock', dashscope: 'qwen', cohere_chat: 'cohere' },
}
const known = new Set(providers.map(({ id }) => id))
const byName = new Set(providers.flatMap(({ id, byName: named }) => (named === true ? [id] : [])))

const list = objectOf(JSON.parse(readFileSync(file, 'utf8')))
const found = new Map<string, Map<string, SlimRow>>(providers.map(({ id }) => [id, new Map<string, SlimRow>()]))
found.get('simulated')?.set('simulated-1', simulatedRow())
for (const [key, fields] of Object.entries(list)) if (isObject(fields)) keep(key, fields)

const rows = [...found].flatMap(([provider, models]) =>
  [...models].sort(byId).map(([id, row]) => ({ provider, id, ...row })),
)
const prices: PriceFile = { source: 'litellm', version, date, currency: 'USD', rows }
const table = priceTable(prices)
checkPrices(table)
writeFileSync(new URL('../specs/data/prices.json', import.meta.url), `${JSON.stringify(prices)}\n`)
process.stdout.write(`${rows.length} models of ${new Set(rows.map(({ provider }) => provider)).size} providers\n`)

function keep(key: string, fields: WireObject): void {
  const listed = textOf(fields.litellm_provider)
  // of Bedrock's models without Converse, those whose bodies are known are called
  if (listed === 'bedrock' && !isBedrockEmbedder(key) && !isBedrockImager(key)) return
  const provider = ours[listed] ?? (listed.startsWith('vertex_ai') ? 'vertex' : listed)
  if (!known.has(provider)) return
  const [family = ''] = listed.split('-', 1)
  const id = [`${listed}/`, `${family}/`].reduce(
    (left, prefix) => (left.startsWith(prefix) ? left.slice(prefix.length) : left),
    key,
  )
  if (!isProvidersOwn(provider, id)) return
  const models = found.get(provider)
  const row = slimRow(provider, id, fields, imagePriceOf(key, fields))
  const isGone = row?.retires !== undefined && row.retires < date && byName.has(provider)
  if (row !== undefined && !isGone && models !== undefined && !models.has(id)) models.set(id, row)
}

/** Whether the id is the provider's own name of a model; for Fireworks the list has shorter names as well. */
function isProvidersOwn(provider: string, id: string): boolean {
  if (provider === 'fireworks') return id.startsWith('accounts/')
  if (provider === 'vertex') return /^(gemini|claude)-/.test(id)
  // the list keeps models that were withdrawn years ago
  if (provider === 'perplexity') return /^(sonar(-pro|-reasoning|-reasoning-pro)?|pplx-embed-.*)$/.test(id)
  return ['groq', 'together', 'hyperbolic', 'cloudflare'].includes(provider) || !id.includes('/')
}

/** Price of one image of the model's usual size and quality; the list has separate rows for sizes and qualities. */
function imagePriceOf(key: string, fields: WireObject): number | undefined {
  const sized = ['medium/1024-x-1024/', 'standard/1024-x-1024/', '1024-x-1024/'].map((size) => list[`${size}${key}`])
  const own = [fields.output_cost_per_image, fields.input_cost_per_image]
  return [...own, ...sized.map((row) => objectOf(row).input_cost_per_image)].find((price) => typeof price === 'number')
}

function byId([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

/** Invented prices, so that costs can be tried without a key; `nominal` marks them wherever they are shown. */
function simulatedRow(): SlimRow {
  return {
    ...{ mode: 'chat', input: '0.000001', output: '0.000002', cached: '0.0000005' },
    ...{ character: '0.000001', second: '0.00001', image: '0.001', context: 128_000 },
    capabilities: ['tools', 'vision', 'structuredOutput', 'fileInput', 'caching'],
    nominal: true,
  }
}
