import { createHash, createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { crc32 } from 'node:zlib'
import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { claude, claudeReply, foreignBetas } from './claude.ts'
import { answerText, CloudRefusal, type CloudRequest, CloudServer, picture, type Shape } from './cloud-server.ts'

const cachePoint: Shape = { type: null, ttl: null }
const image: Shape = { format: null, source: { bytes: null } }
const converse: Shape = {
  messages: [
    {
      role: null,
      content: [
        {
          ...{ text: null, image, cachePoint },
          toolUse: { toolUseId: null, name: null, input: null },
          toolResult: { toolUseId: null, content: [{ text: null, image }], status: null },
        },
      ],
    },
  ],
  system: [{ text: null, cachePoint }],
  inferenceConfig: { maxTokens: null, temperature: null, topP: null, stopSequences: null },
  toolConfig: {
    tools: [{ toolSpec: { name: null, description: null, inputSchema: { json: null } }, cachePoint }],
    toolChoice: { auto: {}, any: {}, tool: { name: null } },
  },
  outputConfig: { textFormat: { type: null, structure: { jsonSchema: { schema: null, name: null } } } },
  additionalModelRequestFields: { top_k: null, thinking: null, output_config: null },
}

const titan: Shape = { inputText: null, dimensions: null, normalize: null }
const cohere: Shape = {
  texts: [null],
  input_type: null,
  truncate: null,
  embedding_types: [null],
  output_dimension: null,
}
/** Answers that no schema has, by the text to embed. */
const hostile: Readonly<Record<string, string>> = {
  infinite: '{"embedding":[1e999],"inputTextTokenCount":1}',
  truncated: '{"embedding":[1,',
  wrong: '{"embedding":"AAAA","inputTextTokenCount":1}',
  nulls: '{"embedding":[null],"inputTextTokenCount":1}',
  absurd: '{"embedding":[1,2],"inputTextTokenCount":1e308}',
  uncounted: '{"embedding":[1,2],"inputTextTokenCount":"many"}',
}

const imager = 'stability.stable-image-core-v1:1'
const drawing: Shape = { prompt: null, aspect_ratio: null, output_format: null, seed: null, negative_prompt: null }

/** Foundation models by what they give. */
const summaries: Readonly<Record<string, readonly object[]>> = {
  TEXT: [{ modelId: 'amazon.nova-lite-v1:0', modelName: 'Nova Lite', outputModalities: ['TEXT'] }],
  EMBEDDING: [
    { modelId: 'cohere.embed-v4:0', modelName: 'Embed v4', outputModalities: ['EMBEDDING'] },
    { modelId: 'twelvelabs.marengo-embed-3-0-v1:0', modelName: 'Marengo', outputModalities: ['EMBEDDING'] },
  ],
  IMAGE: [
    { modelId: imager, modelName: 'Stable Image Core', outputModalities: ['IMAGE'] },
    { modelId: 'stability.stable-outpaint-v1:0', modelName: 'Outpaint', outputModalities: ['IMAGE'] },
  ],
}

/** Values of the header that counts tokens, by the text to embed. */
const counts: Readonly<Record<string, string>> = { absurd: '9'.repeat(15), uncounted: 'many', negative: '-5' }

/** The access key, and the region that requests are signed for. */
interface BedrockOptions {
  readonly id: string
  readonly secret: string
  /** Token of temporary credentials; null for lasting ones. */
  readonly session: string | null
  /** An API key, which signs nothing; absent: none. */
  readonly apiKey?: string
  readonly region: string
  readonly model: string
}

/** Amazon Bedrock's Converse API, and InvokeModel for Claude and embeddings: requests are signed, streams are frames with checksums. */
export class BedrockServer extends CloudServer {
  readonly #options: BedrockOptions

  constructor(options: BedrockOptions) {
    super()
    this.#options = options
  }

  protected serve(request: CloudRequest, response: ServerResponse): unknown {
    this.#verify(request)
    const { pathname, searchParams } = request.url
    if (pathname === '/foundation-models')
      return this.json(response, { modelSummaries: summaries[searchParams.get('byOutputModality') ?? ''] })
    if (pathname === '/inference-profiles')
      return searchParams.get('nextToken') === null
        ? this.json(response, { inferenceProfileSummaries: [{ inferenceProfileId: 'eu.a' }], nextToken: 'more+' })
        : this.json(response, { inferenceProfileSummaries: [{ inferenceProfileId: 'us.b' }] })
    const counted = /^\/model\/([^/]+)\/count-tokens$/.exec(pathname)?.[1]
    if (counted !== undefined) return this.#count(decodeURIComponent(counted), objectOf(request.body), response)
    const [, invoked = '', stream] = /^\/model\/([^/]+)\/invoke(-with-response-stream)?$/.exec(pathname) ?? []
    if (decodeURIComponent(invoked) === this.#options.model)
      return this.#claude(objectOf(request.body), stream !== undefined, response)
    if (decodeURIComponent(invoked) === imager) return this.#draw(objectOf(request.body), response)
    if (invoked !== '') return this.#embed(decodeURIComponent(invoked), request.body, response)
    const [, model = '', operation] = /^\/model\/([^/]+)\/(converse(?:-stream)?)$/.exec(pathname) ?? []
    if (decodeURIComponent(model) !== this.#options.model)
      return this.json(response, { message: 'The provided model identifier is invalid.' }, 400)
    this.known(request.body, converse)
    return this.#converse(objectOf(request.body), operation === 'converse-stream', response)
  }

  protected refuse(response: ServerResponse, status: number, message: string): void {
    this.json(response, { message }, status, { 'x-amzn-errortype': 'ValidationException' })
  }

  /** Computes the signature again, from what arrived. */
  #verify({ method, url, headers, bytes }: CloudRequest): void {
    const { id, secret, session, region, apiKey } = this.#options
    if (apiKey !== undefined && headers.authorization === `Bearer ${apiKey}`) return
    const wanted = /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
    const [, credential = '', names = '', signature] = wanted.exec(headers.authorization ?? '') ?? []
    const date = String(headers['x-amz-date'])
    const scope = `${date.slice(0, 8)}/${region}/bedrock/aws4_request`
    const hash = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
    const raw = url.href.slice(url.origin.length).split('?')
    const path = (raw[0] ?? '').replaceAll('%', '%25').replaceAll(':', '%3A')
    const query = (raw[1] ?? '').split('&').sort().join('&')
    const lines = names.split(';').map((name) => `${name}:${headers[name]}\n`)
    const canonical = [method, path, query, lines.join(''), names, hash(bytes)].join('\n')
    const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash(canonical)}`
    const sign = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest()
    const key = scope.split('/').reduce<string | Buffer>(sign, `AWS4${secret}`)
    const isRecent = Math.abs(Date.now() - Date.parse(date.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'))) < 300_000
    const needed = ['host', 'x-amz-date', ...(session === null ? [] : ['x-amz-security-token'])]
    const isWhole = needed.every((name) => names.split(';').includes(name))
    const isOurs = credential === `${id}/${scope}` && (headers['x-amz-security-token'] ?? null) === session
    if (isRecent && isWhole && isOurs && sign(key, text).toString('hex') === signature) return
    throw new CloudRefusal(403, 'The request signature we calculated does not match the signature you provided.')
  }

  /** Counts for a model, not for a profile of regions, and takes the body of InvokeModel. */
  #count(model: string, { input }: WireObject, response: ServerResponse): unknown {
    const given = textOf(objectOf(objectOf(input).invokeModel).body)
    const body = objectOf(parseJson(Buffer.from(given, 'base64').toString()))
    this.known(body, claude)
    if (!model.startsWith('anthropic.') || body.max_tokens === undefined) throw new CloudRefusal(400, 'count')
    if (claudeReply(body).scenario === 'uncounted')
      return this.json(response, { message: "The provided model doesn't support counting tokens." }, 400)
    return this.json(response, { inputTokens: 42 })
  }

  /** Anthropic's body by InvokeModel. Of a stream that breaks, the exception comes after the reason to stop. */
  #claude(body: WireObject, streams: boolean, response: ServerResponse): unknown {
    this.known(body, claude)
    if (body.anthropic_version !== 'bedrock-2023-05-31' || 'stream' in body) throw new CloudRefusal(400, 'Malformed')
    if (foreignBetas(arrayOf(body.anthropic_beta)).length > 0) throw new CloudRefusal(400, 'invalid beta flag')
    const { scenario, whole, events } = claudeReply(body)
    if (this.#refused(scenario, response)) return response
    if (!streams) return this.json(response, whole)
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    const sent = scenario === 'hang' ? events.slice(0, 3) : events.slice(0, -1)
    for (const event of sent) response.write(chunkFrame(event))
    if (scenario === 'hang') return response
    if (scenario === 'break') return response.end(brokenFrame)
    const counts = { inputTokenCount: 120, outputTokenCount: 7, invocationLatency: 1, firstByteLatency: 1 }
    return response.end(chunkFrame({ ...events.at(-1), 'amazon-bedrock-invocationMetrics': counts }))
  }

  /** An image of a ratio that is known, or the reason why there is none. */
  #draw(body: WireObject, response: ServerResponse): unknown {
    this.known(body, drawing)
    const { prompt, aspect_ratio = '1:1' } = body
    if (!['1:1', '16:9', '3:2'].includes(textOf(aspect_ratio))) throw new CloudRefusal(400, 'aspect_ratio')
    if (prompt === 'forbidden') return this.json(response, { finish_reasons: ['Filter reason: prompt'] })
    if (prompt === 'nothing') return this.json(response, { seeds: [], finish_reasons: [null], images: [] })
    return this.json(response, { seeds: [1], finish_reasons: [null], images: [picture] })
  }

  #refused(scenario: string, response: ServerResponse): boolean {
    if (scenario === 'refuse') this.json(response, { message: 'Malformed input request.' }, 400)
    if (scenario === 'limit') this.json(response, { message: 'Too many requests' }, 429, { 'retry-after': '60' })
    return scenario === 'refuse' || scenario === 'limit'
  }

  /** A vector's first number is the length of its text. */
  #embed(model: string, given: unknown, response: ServerResponse): unknown {
    const body = objectOf(given)
    const vectorOf = (text: unknown, size: unknown): readonly number[] =>
      Array.from({ length: Number(size ?? 1024) }, (_, at) => (at === 0 ? textOf(text).length : 0.5))
    if (model === 'amazon.titan-embed-text-v2:0') {
      this.known(body, titan)
      const text = textOf(body.inputText)
      if (text === 'limit') return this.json(response, { message: 'Too many requests' }, 429, { 'retry-after': '60' })
      const raw = hostile[text]
      if (raw !== undefined) return response.writeHead(200, { 'content-type': 'application/json' }).end(raw)
      return this.json(response, { embedding: vectorOf(text, body.dimensions), inputTextTokenCount: 5 })
    }
    if (!model.endsWith('cohere.embed-v4:0'))
      return this.json(response, { message: 'The provided model identifier is invalid.' }, 400)
    this.known(body, cohere)
    const texts = arrayOf(body.texts)
    if (texts.length > 96 || !textOf(body.input_type).startsWith('search_'))
      throw new CloudRefusal(400, 'Malformed input request.')
    const embeddings = texts.map((text) => vectorOf(text, body.output_dimension))
    const count = counts[textOf(texts[0])] ?? String(3 * texts.length)
    const headers = { 'x-amzn-bedrock-input-token-count': count }
    return this.json(response, { id: 'embed', response_type: 'embeddings_floats', embeddings, texts }, 200, headers)
  }

  #converse(body: WireObject, streams: boolean, response: ServerResponse): unknown {
    const last = objectOf(arrayOf(body.messages).at(-1))
    const blocks = arrayOf(last.content).map(objectOf)
    const scenario = blocks.map(({ text }) => textOf(text)).join('')
    if (this.#refused(scenario, response)) return response
    const marked = blocks.some((block) => isObject(block.cachePoint))
    const usage = usageOf(scenario, marked)
    const content = answerTo(body, blocks, scenario)
    const stopReason = isObject(content.toolUse) ? 'tool_use' : 'end_turn'
    if (streams) return this.#stream({ content, stopReason, usage, scenario }, response)
    const message = { role: 'assistant', content: [content] }
    return this.json(response, { output: { message }, stopReason, usage, metrics: { latencyMs: 1 } })
  }

  #stream(
    {
      content,
      stopReason,
      usage,
      scenario,
    }: { content: WireObject; stopReason: string; usage: object; scenario: string },
    response: ServerResponse,
  ): unknown {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    const send = (type: string, payload: object): unknown => response.write(eventFrame(type, payload))
    const { toolUse } = content
    const at = { contentBlockIndex: 0 }
    send('messageStart', { role: 'assistant' })
    if (isObject(toolUse)) {
      const { input, ...start } = toolUse
      send('contentBlockStart', { ...at, start: { toolUse: start } })
      for (const part of ['', '{"city":', '"Oslo"}'])
        send('contentBlockDelta', { ...at, delta: { toolUse: { input: part } } })
    } else
      for (const part of textOf(content.text).split(/(?<= )/))
        send('contentBlockDelta', { ...at, delta: { text: part } })
    if (scenario === 'hang') return response
    if (scenario === 'break') {
      // the exception comes after a whole text: the answer is still not whole
      send('contentBlockStop', at)
      send('messageStop', { stopReason })
      return response.end(brokenFrame)
    }
    send('contentBlockStop', at)
    send('messageStop', { stopReason })
    return response.end(eventFrame('metadata', { usage, metrics: { latencyMs: 1 } }))
  }
}

const usageOf = (scenario: string, marked: boolean): WireObject => {
  if (scenario !== 'cached') return { inputTokens: 120, outputTokens: 7, totalTokens: 127 }
  const cache = { cacheReadInputTokens: 100, cacheWriteInputTokens: marked ? 10 : 0 }
  return { inputTokens: marked ? 10 : 20, outputTokens: 7, totalTokens: 127, ...cache }
}

const answerTo = (body: WireObject, blocks: readonly WireObject[], scenario: string): WireObject => {
  const result = objectOf(blocks.find(({ toolResult }) => isObject(toolResult))?.toolResult)
  if (result.toolUseId === 'tooluse_1') return { text: `It is ${textOf(objectOf(arrayOf(result.content)[0]).text)}.` }
  const { tools } = objectOf(body.toolConfig)
  if (scenario === 'tool' && arrayOf(tools).length === 1)
    return { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Oslo' } } }
  const shown = blocks.find((block) => isObject(block.image))
  if (shown !== undefined) {
    const { format, source } = objectOf(shown.image)
    return { text: format === 'png' && objectOf(source).bytes === picture ? 'A picture.' : 'Nothing.' }
  }
  const { textFormat } = objectOf(body.outputConfig)
  const { schema } = objectOf(objectOf(objectOf(textFormat).structure).jsonSchema)
  if (scenario === 'json' && textOf(schema).includes('"city"')) return { text: '{"city":"Oslo"}' }
  return { text: answerText }
}

const eventFrame = (type: string, payload: object): Buffer =>
  frame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload)

/** A chunk of InvokeModelWithResponseStream: the event of the model's vendor in base64, padded against guesses of its length. */
export const chunkFrame = (event: unknown): Buffer =>
  eventFrame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcdef' })

/** A message of an event stream: lengths, checksum, headers, payload, checksum. */
export const frame = (headers: Readonly<Record<string, string>>, payload: object): Buffer => {
  const named = Object.entries(headers).map(([name, value]) => {
    const head = Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7, 0, value.length])])
    return Buffer.concat([head, Buffer.from(value)])
  })
  const fields = Buffer.concat(named)
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + fields.length + body.length, 0)
  prelude.writeUInt32BE(fields.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const message = Buffer.concat([prelude, fields, body])
  const end = Buffer.alloc(4)
  end.writeUInt32BE(crc32(message), 0)
  return Buffer.concat([message, end])
}

const brokenFrame = frame(
  { ':message-type': 'exception', ':exception-type': 'modelStreamErrorException' },
  { message: 'The model failed.' },
)
