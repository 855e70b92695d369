import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parsedAnswer } from '#outgoing/shares/parsed-answer.ts'
import { isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { runInSlices } from '#src/concurrency/run-in-slices.ts'
import { tokensOfChars } from '../call/accounting/usage.ts'
import { simulatedWindow } from '../prices/simulated-window.ts'
import { choicesOf, limitedText, sharedText } from './answer-limits.ts'
import { audioPath, serveAudio } from './audio.ts'
import { type AnswerBody, type AnswerHead, completionOf, framesOf, type TokenCounts } from './chat-format.ts'
import { completions } from './documents/completions.ts'
import { embeddings } from './documents/embeddings.ts'
import { editedImages, generatedImages } from './documents/generated-images.ts'
import { moderations } from './documents/moderations.ts'
import { rerank } from './documents/rerank.ts'
import { imageChars, imagesIn, imageTokens } from './images.ts'
import { PromptCache } from './prompt-cache.ts'
import { decideReply, type Reply } from './reply.ts'
import { createdS, sendError, sendJson, sendRefusal } from './respond.ts'
import { streamFrames } from './word-stream.ts'

/** Address and pace of the simulated provider. */
export interface SimulatedOptions {
  /** 0 (the default) picks a free port. */
  readonly port?: number
  /** Default: loopback. */
  readonly host?: string
  /** Pause between words in ms; 0 sends the whole response at once. */
  readonly chunkDelayMs?: number
}

/** Request counts since the start. */
interface SimulatedStats {
  readonly requests: number
  /** Responses currently being streamed. */
  readonly active: number
  /** Streams whose client disconnected before the end. */
  readonly aborted: number
}

/** A running simulated provider. */
export interface SimulatedProvider {
  /** Base URL, including `/v1`. */
  readonly url: string
  stats(): SimulatedStats
  close(): Promise<void>
}

interface Serving {
  readonly chunkDelayMs: number
  readonly cache: PromptCache
  requests: number
  active: number
  aborted: number
}

/** One request with its complete body, and its response. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
}

type AnswerReply = Extract<Reply, { kind: 'answer' }>

const defaultChunkDelayMs = 15
const slowChunkDelayMs = 200
const maxBodyBytes = 32 * 1024 * 1024
/** Characters whose words delay a slow answer. */
const maxSpokenChars = 64 * 1024
const editsPath = '/v1/images/edits'
const chatPath = '/v1/chat/completions'

/** Operations that take a JSON document and answer one. */
const documents: ReadonlyMap<string, (request: WireObject, response: ServerResponse) => void | Promise<void>> = new Map(
  Object.entries({
    '/v1/embeddings': embeddings,
    '/v1/images/generations': generatedImages,
    '/v1/completions': completions,
    '/v1/moderations': moderations,
    '/v1/rerank': rerank,
  }),
)

/**
 * Starts a provider with OpenAI's wire format that needs no key. It echoes prompts, calls tools on request, and
 * misbehaves on request ("slow please", "fail please", "rate limit please", "cut please", "malformed please").
 */
export async function startSimulatedProvider(options: SimulatedOptions = {}): Promise<SimulatedProvider> {
  const serving: Serving = {
    chunkDelayMs: options.chunkDelayMs ?? defaultChunkDelayMs,
    cache: new PromptCache(),
    requests: 0,
    active: 0,
    aborted: 0,
  }
  const server = createServer((request, response) => accept(serving, request, response))
  server.keepAliveTimeout = 60_000
  const host = options.host ?? '127.0.0.1'
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, host, resolve)
  })
  const { port } = addressOf(server.address())
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/v1`,
    stats: () => ({ requests: serving.requests, active: serving.active, aborted: serving.aborted }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function accept(serving: Serving, request: IncomingMessage, response: ServerResponse): void {
  const parts: Buffer[] = []
  let size = 0
  request.on('data', (part: Buffer) => {
    size += part.length
    if (size <= maxBodyBytes) parts.push(part)
  })
  request.on('end', () => {
    if (size > maxBodyBytes) {
      sendError(response, 413, 'request_too_large')
      return
    }
    const body = parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts)
    route(serving, { request, response, body })
  })
}

function route(serving: Serving, exchange: Exchange): void {
  const { request, response } = exchange
  const path = request.url?.split('?')[0] ?? ''
  if (request.method === 'GET' && path === '/v1/models') sendJson(response, 200, modelList)
  else if (request.method === 'POST' && path.startsWith(audioPath)) audio(serving, path, exchange)
  else if (request.method === 'POST' && path === editsPath) edit(serving, exchange)
  else if (request.method !== 'POST' || (path !== chatPath && !documents.has(path)))
    sendError(response, 404, 'not_found')
  else void post(serving, path, exchange)
}

function audio(serving: Serving, path: string, { request, response, body }: Exchange): void {
  serving.requests++
  serving.active++
  response.once('close', () => {
    serving.active--
    if (!response.writableFinished) serving.aborted++
  })
  void serveAudio({ path, contentType: request.headers['content-type'] ?? '', body }, response)
}

function edit(serving: Serving, { request, response, body }: Exchange): void {
  serving.requests++
  void editedImages(request.headers['content-type'] ?? '', body, response)
}

async function post(serving: Serving, path: string, exchange: Exchange): Promise<void> {
  const { response, body } = exchange
  const parsed = await parsedAnswer(body)
  if (!isObject(parsed)) sendError(response, 400, 'invalid_json')
  else if (!textOf(parsed.model).startsWith('simulated')) sendError(response, 404, 'model_not_found')
  else {
    serving.requests++
    if (path === chatPath) await chat(serving, parsed, exchange)
    else void documents.get(path)?.(parsed, response)
  }
}

async function chat(serving: Serving, request: WireObject, exchange: Exchange): Promise<void> {
  const { response, body: sent } = exchange
  const { headers } = exchange.request
  if (!Array.isArray(request.messages)) {
    sendError(response, 400, 'missing_messages')
    return
  }
  const found = imagesIn(request.messages)
  if (found.kind === 'unreadable') {
    sendError(response, 400, 'invalid_image_format')
    return
  }
  const seed = seedOf(headers)
  const reply = await runInSlices(decideReply(request, found.images, seed))
  if (reply.kind === 'refuse') {
    sendRefusal(response, reply)
    return
  }
  const head: AnswerHead = { id: `chatcmpl-${digest(seed)}`, model: textOf(request.model), created: createdS }
  const textChars = sent.length - imageChars(request.messages)
  const promptTokens = tokensOfChars(textChars) + imageTokens(found.images)
  if (promptTokens > (simulatedWindow(head.model) ?? promptTokens)) {
    sendError(response, 400, 'context_length_exceeded')
    return
  }
  const body = limited(reply, request, {
    promptTokens,
    cachedTokens: serving.cache.cachedTokens(request.messages, textChars),
    reasoningTokens: thoughts.get(textOf(request.reasoning_effort)) ?? 0,
  })
  const delayMs = reply.slow ? Math.max(slowChunkDelayMs, serving.chunkDelayMs) : serving.chunkDelayMs
  if (request.stream !== true) {
    const words = reply.slow ? body.text.slice(0, maxSpokenChars).split(/\s+/).length : 0
    setTimeout(() => sendJson(response, 200, completionOf(head, body)), words * delayMs)
    return
  }
  const frames = framesOf(head, body, objectOf(request.stream_options).include_usage === true)
  serving.active++
  const onEnd = (whole: boolean): void => {
    serving.active--
    if (!whole) serving.aborted++
  }
  streamFrames(response, frames, { delayMs, slow: reply.slow, trouble: reply.trouble, onEnd })
}

/** Reasoning tokens by `reasoning_effort`; they are counted, and have a text only on request ("think please"). */
const thoughts = new Map([
  ['low', 64],
  ['medium', 128],
  ['high', 256],
])

/** Applies the caller's limits as a provider would; a cut text has the finish reason `length`. */
function limited(reply: AnswerReply, request: WireObject, counts: TokenCounts): AnswerBody {
  const { calls } = reply
  const { text, isCut } = limitedText(reply.text, request.stop, request.max_completion_tokens ?? request.max_tokens)
  const choices = choicesOf(request)
  const shared = sharedText(text, choices)
  const finishReason = isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'
  return { reasoning: reply.reasoning, text: shared, calls, finishReason, choices, ...counts }
}

/** Seeds ids with the idempotency key, if any, so that a retry gets the same ids. */
function seedOf(headers: IncomingHttpHeaders): string {
  const key = headers['idempotency-key']
  return typeof key === 'string' ? key : `${process.hrtime.bigint()}`
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24)

const modelList = {
  object: 'list',
  data: [{ id: 'simulated-1', object: 'model', created: createdS, owned_by: 'simulated' }],
}

function addressOf(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  return address
}
