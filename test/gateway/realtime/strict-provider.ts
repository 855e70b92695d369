import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

type Fields = { readonly [name: string]: unknown }

/** Fields of each event of a client, as OpenAI's published types have them. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  'session.update': ['session'],
  'input_audio_buffer.append': ['audio'],
  'input_audio_buffer.commit': [],
  'input_audio_buffer.clear': [],
  'conversation.item.create': ['item', 'previous_item_id'],
  'conversation.item.truncate': ['item_id', 'content_index', 'audio_end_ms'],
  'response.create': ['response'],
  'response.cancel': ['response_id'],
}
const sessionFields = [
  ...['type', 'instructions', 'output_modalities', 'audio', 'tools', 'tool_choice', 'max_output_tokens', 'tracing'],
  ...['include', 'prompt', 'truncation'],
]

/** What a response used, by default. */
const usage = {
  total_tokens: 1_234,
  input_tokens: 1_000,
  output_tokens: 234,
  input_token_details: {
    ...{ text_tokens: 300, audio_tokens: 700, image_tokens: 0, cached_tokens: 384 },
    cached_tokens_details: { text_tokens: 128, audio_tokens: 256, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 34, audio_tokens: 200 },
}

export interface StrictOptions {
  readonly key: string
  readonly model: string
  /** Audio of a response in base64, in this many events. */
  readonly deltas?: readonly string[]
}

/** A provider of the Realtime API that refuses what OpenAI's refuses: unknown fields, a wrong key, a wrong model. */
export class StrictProvider {
  readonly received: Fields[] = []
  readonly upgrades: IncomingMessage['headers'][] = []
  readonly sockets = new Set<WebSocket>()
  /** What an upgrade waits for before it is answered. */
  before: Promise<void> = Promise.resolve()
  /** Whether a response ends by itself. */
  ends = true
  readonly #options: StrictOptions
  readonly #server = createServer((request, response) => {
    if (request.method === 'GET') return response.end(JSON.stringify({ data: [{ id: this.#options.model }] }))
    response.writeHead(404).end('{}')
  })
  #responses = 0

  private constructor(options: StrictOptions) {
    this.#options = options
    const sockets = new WebSocketServer({ noServer: true })
    this.#server.on('upgrade', (request, socket, head) => {
      this.upgrades.push(request.headers)
      const refusal = this.#refusalOf(request)
      socket.on('error', () => {})
      void this.before.then(() => {
        if (refusal === null) sockets.handleUpgrade(request, socket, head, (open) => this.#serve(open))
        else
          socket.end(
            `HTTP/1.1 ${refusal.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${refusal.body.length}\r\nconnection: close\r\n\r\n${refusal.body}`,
          )
      })
    })
  }

  static async open(options: StrictOptions): Promise<StrictProvider> {
    const provider = new StrictProvider(options)
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve))
    return provider
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`
  }

  get url(): string {
    return `http://${this.host}`
  }

  get #port(): number {
    const { port }: AddressInfo = Object(this.#server.address())
    return port
  }

  /** Types of the events received. */
  get types(): readonly unknown[] {
    return this.received.map(({ type }) => type)
  }

  /** Sends an event to the newest session. */
  emit(event: Fields): void {
    const socket = [...this.sockets].at(-1)
    if (socket !== undefined) send(socket, event)
  }

  /** Begins a response in the newest session, as at the end of speech. */
  respondToNewest(): void {
    const socket = [...this.sockets].at(-1)
    if (socket !== undefined) this.respond(socket)
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.terminate()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #refusalOf({ url = '', headers }: IncomingMessage) {
    const { pathname, searchParams } = new URL(url, 'http://provider')
    const error = (code: string) => JSON.stringify({ error: { type: 'invalid_request_error', code, message: code } })
    if (headers.authorization !== `Bearer ${this.#options.key}`) return { status: 401, body: error('invalid_api_key') }
    if (pathname !== '/v1/realtime') return { status: 404, body: error('not_found') }
    if (searchParams.get('model') !== this.#options.model) return { status: 404, body: error('model_not_found') }
    return null
  }

  #serve(socket: WebSocket): void {
    this.sockets.add(socket)
    socket.on('close', () => this.sockets.delete(socket))
    const session = { id: 'sess_of_provider', object: 'realtime.session', type: 'realtime', model: this.#options.model }
    send(socket, { type: 'session.created', session: { ...session, max_output_tokens: 'inf' } })
    socket.on('message', (data) => {
      const event: Fields = JSON.parse(String(data))
      this.received.push(event)
      const refusal = refusalOf(event)
      if (refusal !== null)
        send(socket, {
          type: 'error',
          error: { type: 'invalid_request_error', ...refusal, event_id: event.event_id ?? null },
        })
      else if (event.type === 'session.update')
        send(socket, { type: 'session.updated', session: { ...session, ...Object(event.session) } })
      else if (event.type === 'response.create') this.respond(socket)
      else if (event.type === 'input_audio_buffer.commit')
        send(socket, { type: 'input_audio_buffer.committed', item_id: 'item_heard', previous_item_id: null })
    })
  }

  /** Sends the events of a response. */
  respond(socket: WebSocket): void {
    const { deltas = ['A'.repeat(64_000)] } = this.#options
    const id = `resp_${++this.#responses}`
    const response = { object: 'realtime.response', id, status: 'in_progress', output: [], usage: null }
    const place = { response_id: id, item_id: 'item_spoken', output_index: 0, content_index: 0 }
    send(socket, { type: 'response.created', response })
    for (const delta of deltas) send(socket, { type: 'response.output_audio.delta', ...place, delta })
    send(socket, { type: 'response.output_audio_transcript.delta', ...place, delta: 'Hello' })
    if (this.ends) this.finish(socket, id)
  }

  finish(socket: WebSocket, id: string): void {
    const output = [{ id: 'item_spoken', type: 'message', role: 'assistant', content: [] }]
    send(socket, {
      type: 'response.done',
      response: { object: 'realtime.response', id, status: 'completed', output, usage },
    })
  }
}

let events = 0
const send = (socket: WebSocket, { type, ...fields }: Fields): void =>
  socket.send(JSON.stringify({ type, event_id: `event_${++events}`, ...fields }))

const refusalOf = ({
  type,
  event_id: _,
  ...fields
}: Fields): { code: string; message: string; param?: string } | null => {
  const known = fieldsOf[String(type)]
  if (known === undefined) return { code: 'invalid_value', message: `Unknown event ${type}`, param: 'type' }
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined)
    return { code: 'unknown_parameter', message: `Unknown parameter: ${unknown}`, param: unknown }
  const session = Object.keys(Object(fields.session)).find((name) => !sessionFields.includes(name))
  if (session !== undefined)
    return { code: 'unknown_parameter', message: `Unknown parameter: session.${session}`, param: `session.${session}` }
  return null
}
