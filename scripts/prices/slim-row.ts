import { Decimal } from 'decimal.js'
import type { ModelMode, PriceRow, PriceTier } from '#gateway/prices/price-table.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

/** A row without the fields that its place in the file implies. */
export type SlimRow = Omit<PriceRow, 'provider' | 'id'>

const modes: Readonly<Record<string, ModelMode>> = {
  chat: 'chat',
  embedding: 'embedding',
  image_generation: 'image',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
  realtime: 'realtime',
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
/** Ids of chat models that only produce speech, music or images, or that use other APIs than chat and embeddings. */
const otherChats = /native-audio|tts|lyria|realtime|image|deep-research|robotics|live|container|computer-use|transcribe/
/** Ids in the list that are not models: size classes, prices of options, and realtime transcription. */
const noModels = /^ft:|^together-ai-|^streaming\/|^\d+b?-|realtime|-live|-x-\d/

/**
 * Returns the fields of a list row that are kept; undefined for models that are not routed to, and for those without a
 * price. A price of 0 means "unknown" in the list (retired experiments): it is omitted, never taken as free.
 */
export function slimRow(provider: string, id: string, fields: WireObject, imagePrice: number | undefined) {
  const mode = modes[textOf(fields.mode)] ?? (fields.input_cost_per_character === undefined ? undefined : 'speech')
  if (mode === undefined || (mode !== 'realtime' && noModels.test(id))) return undefined
  // the realtime sessions of others have protocols of their own
  if (mode === 'realtime' && !openAis.has(provider)) return undefined
  if (mode === 'chat' && (otherChats.test(id) || !givesText(fields))) return undefined
  const prices = pricesOf(mode, id, fields, imagePrice)
  if (prices === undefined || (mode === 'image' && prices.image === undefined && prices.output === undefined))
    return undefined
  const row: SlimRow = {
    mode,
    ...prices,
    context: countOf(fields.max_input_tokens) ?? 0,
    ...optional('max_output', countOf(fields.max_output_tokens)),
    capabilities: capabilitiesOf(mode, id, fields),
    ...optional('sampling', mode !== 'chat' || takesSampling(provider, fields) ? undefined : false),
    ...optional('retires', typeof fields.deprecation_date === 'string' ? fields.deprecation_date : undefined),
  }
  return row
}

type Prices = Pick<
  SlimRow,
  | 'input'
  | 'output'
  | 'cached'
  | 'cacheWrite'
  | 'cacheWriteLong'
  | 'reasoning'
  | 'audioInput'
  | 'audioCached'
  | 'audioOutput'
  | 'imageInput'
  | 'imageCached'
  | 'tiers'
  | 'character'
  | 'second'
  | 'image'
  | 'call'
>

function pricesOf(mode: ModelMode, id: string, fields: WireObject, imagePrice: number | undefined): Prices | undefined {
  const input = decimal(fields.input_cost_per_token)
  const output = decimal(outputPrice(mode, fields))
  const tokens: Prices = {
    ...optional('input', input),
    ...optional('output', mode === 'embedding' ? undefined : output),
    ...optional('cached', decimal(fields.cache_read_input_token_cost)),
    ...optional('cacheWrite', decimal(fields.cache_creation_input_token_cost)),
    ...optional('cacheWriteLong', longWrite(fields)),
    ...optional('reasoning', decimal(fields.output_cost_per_reasoning_token)),
    ...((mode === 'chat' || mode === 'realtime') && audioPrices(fields)),
    ...((mode === 'image' || mode === 'realtime') && imagePrices(mode, fields)),
    ...optional('tiers', tiersOf(fields)),
  }
  const known = input === undefined ? {} : tokens
  const prices = {
    ...known,
    ...optional('call', searchPrice(mode, id, fields)),
    ...unitPrices(mode, fields, imagePrice),
  }
  return Object.keys(prices).length === 0 ? undefined : prices
}

/** Price of the output. That of a speech model is audio, whatever price the list has for text. */
function outputPrice(mode: ModelMode, fields: WireObject): unknown {
  if (mode === 'image') return fields.output_cost_per_image_token
  if (mode === 'speech') return fields.output_cost_per_audio_token ?? fields.output_cost_per_token
  return fields.output_cost_per_token
}

/** Audio prices of a chat model, where they differ from those of text. */
function audioPrices(fields: WireObject): Prices {
  const other = (audio: unknown, text: unknown): string | undefined => (audio === text ? undefined : decimal(audio))
  return {
    ...optional('audioInput', other(fields.input_cost_per_audio_token, fields.input_cost_per_token)),
    ...optional('audioCached', other(fields.cache_read_input_audio_token_cost, fields.cache_read_input_token_cost)),
    ...optional('audioOutput', other(fields.output_cost_per_audio_token, fields.output_cost_per_token)),
  }
}

/** Prices of images in the input. */
function imagePrices(mode: ModelMode, fields: WireObject): Prices {
  return {
    ...optional('imageInput', decimal(fields.input_cost_per_image_token)),
    ...(mode === 'realtime' && optional('imageCached', decimal(fields.cache_read_input_image_token_cost))),
  }
}

/**
 * Price of one web search, for models that search in every call; for others, search is a tool that we do not offer. It
 * is the price of the smallest search, which providers make unless the request specifies more.
 */
function searchPrice(mode: ModelMode, id: string, fields: WireObject): string | undefined {
  if (mode !== 'chat' || !/^sonar|-search-/.test(id)) return undefined
  return decimal(objectOf(fields.search_context_cost_per_query).search_context_size_low)
}

/** Prices in units other than tokens; they are used where the call reports the number of units. */
function unitPrices(mode: ModelMode, fields: WireObject, imagePrice: number | undefined): Prices {
  if (mode === 'image') return optional('image', decimal(imagePrice))
  if (mode === 'transcription') return optional('second', decimal(fields.input_cost_per_second))
  if (mode !== 'speech') return {}
  const character = decimal(fields.input_cost_per_character)
  return { ...optional('character', character), ...optional('second', decimal(fields.output_cost_per_second)) }
}

/** Prices that apply to the whole call once its input exceeds a number of tokens. */
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
        ...optional('cacheWrite', decimal(fields[`cache_creation_input_token_cost${suffix}`])),
        ...optional('cacheWriteLong', longWrite(fields, suffix)),
      },
    ]
  })
  return tiers.length === 0 ? undefined : tiers.sort((a, b) => a.above - b.above)
}

/** Price of cache writes that last an hour (Anthropic) or twelve hours (OpenAI). */
function longWrite(fields: WireObject, suffix = ''): string | undefined {
  const times = ['1hr', '12hr'].map((time) => fields[`cache_creation_input_token_cost_above_${time}${suffix}`])
  return decimal(times.find((price) => price !== undefined))
}

function capabilitiesOf(mode: ModelMode, id: string, fields: WireObject): readonly string[] {
  if (mode === 'speech' || mode === 'transcription') return []
  const named = Object.entries(capabilityFields).flatMap(([field, name]) => (fields[field] === true ? [name] : []))
  if (mode === 'image') return [...new Set([...named.filter((name) => name !== 'tools'), 'image'])]
  const writesCode = mode === 'chat' && /code|codex|codestral|devstral|coder/i.test(id)
  return writesCode ? [...named, 'code'] : named
}

const openAis: ReadonlySet<string> = new Set(['openai', 'azure-openai'])

/** OpenAI's reasoning models refuse `temperature`; the list says so only for the others. */
function takesSampling(provider: string, fields: WireObject): boolean {
  return fields.supports_sampling_params !== false && !(openAis.has(provider) && fields.supports_reasoning === true)
}

function givesText(fields: WireObject): boolean {
  const given = arrayOf(fields.supported_output_modalities)
  return given.length === 0 || given.includes('text')
}

/** Formats a number as a plain decimal: the shortest one that reads back as the same number, without an exponent. */
function decimal(value: unknown): string | undefined {
  return typeof value === 'number' && value > 0 ? new Decimal(value).toFixed() : undefined
}

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined

/** Returns an object with the entry, or an empty one when there is no value. */
function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  const entry: { [P in K]?: V } = {}
  if (value !== undefined) entry[key] = value
  return entry
}
