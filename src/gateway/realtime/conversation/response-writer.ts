import { argumentsOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { serverEvent } from '../server-event.ts'
import type { Conversation, Item, SpokenPart } from './conversation.ts'

/** How a response ended. */
export interface ResponseEnd {
  readonly status: 'completed' | 'cancelled' | 'failed' | 'incomplete'
  /** Reason or error; absent for a response that is complete. */
  readonly details?: WireObject
  readonly usage: WireObject | null
}

/** Fields of a response that do not change. */
export interface ResponseHead {
  readonly conversationId: string | null
  readonly speaks: boolean
  readonly metadata: unknown
}

/** Writes the events of one response, and adds what it says to the conversation. */
export class ResponseWriter {
  readonly id = newId('resp')
  readonly #send: (event: string) => void
  readonly #conversation: Conversation
  readonly #head: ResponseHead
  readonly #output: Item[] = []
  #message: Item | null = null
  #text = ''
  #spoken: SpokenPart[] = []
  #isOver = false

  constructor(send: (event: string) => void, conversation: Conversation, head: ResponseHead) {
    this.#send = send
    this.#conversation = conversation
    this.#head = head
  }

  get isOver(): boolean {
    return this.#isOver
  }

  begin(): void {
    this.#emit('response.created', { response: this.#response('in_progress', null) })
  }

  /** Adds to the text of the answer; of a spoken one, the words that come next. */
  text(delta: string): void {
    if (this.#isOver || delta === '') return
    const place = this.#place()
    this.#text += delta
    const type = this.#head.speaks ? 'response.output_audio_transcript.delta' : 'response.output_text.delta'
    this.#emit(type, { ...place, delta })
  }

  /** Adds audio of the answer. */
  audio(samples: Buffer): void {
    if (this.#isOver) return
    this.#emit('response.output_audio.delta', { ...this.#place(), delta: samples.toString('base64') })
  }

  /** Notes how long a sentence takes to say. */
  spoken(part: SpokenPart): void {
    this.#spoken.push(part)
  }

  /** Adds a call of a function that the client runs. */
  call(callId: string, name: string, written: string): void {
    if (this.#isOver) return
    const args = argumentsOf(written)
    this.#endMessage('completed')
    const item = this.#add({ type: 'function_call', status: 'in_progress', call_id: callId, name, arguments: '' })
    const place = { response_id: this.id, output_index: this.#output.length - 1, item_id: item.id, call_id: callId }
    this.#emit('response.function_call_arguments.delta', { ...place, delta: args })
    this.#emit('response.function_call_arguments.done', { ...place, name, arguments: args })
    this.#done({ ...item, status: 'completed', arguments: args })
  }

  /** Adds a whole item, such as a request for an approval. */
  item(item: WireObject): void {
    if (this.#isOver) return
    this.#endMessage('completed')
    this.#done(this.#add(item))
  }

  end({ status, details, usage }: ResponseEnd): void {
    if (this.#isOver) return
    this.#endMessage(status === 'completed' ? 'completed' : 'incomplete')
    this.#isOver = true
    const status_details = details === undefined ? null : { type: status, ...details }
    this.#emit('response.done', { response: { ...this.#response(status, usage), status_details } })
  }

  /** The part of the answer that text and audio belong to; the first one begins the message. */
  #place() {
    const message = this.#message ?? this.#beginMessage()
    return { response_id: this.id, item_id: message.id, output_index: this.#output.length - 1, content_index: 0 }
  }

  #beginMessage(): Item {
    this.#text = ''
    this.#spoken = []
    const message = this.#add({ type: 'message', role: 'assistant', status: 'in_progress', content: [] })
    this.#message = message
    const part = this.#head.speaks ? { type: 'audio', transcript: '' } : { type: 'text', text: '' }
    this.#emit('response.content_part.added', { ...this.#place(), part })
    return message
  }

  #endMessage(status: string): void {
    const message = this.#message
    if (message === null) return
    const text = this.#text
    const place = this.#place()
    const { speaks } = this.#head
    if (speaks) {
      this.#emit('response.output_audio.done', place)
      this.#emit('response.output_audio_transcript.done', { ...place, transcript: text })
    } else this.#emit('response.output_text.done', { ...place, text })
    const part = speaks ? { type: 'audio', transcript: text } : { type: 'text', text }
    this.#emit('response.content_part.done', { ...place, part })
    const content = [speaks ? { type: 'output_audio', transcript: text } : { type: 'output_text', text }]
    this.#message = null
    this.#done({ ...message, status, content })
    if (speaks) this.#conversation.spoken(message.id, this.#spoken)
  }

  #add(fields: WireObject): Item {
    const isKept = this.#head.conversationId !== null
    const wire = { object: 'realtime.item', ...fields, id: textOf(fields.id) || newId('item') }
    const added = isKept ? this.#conversation.add(wire) : null
    const item: Item = added?.item ?? { ...wire, type: String(fields.type) }
    this.#output.push(item)
    this.#emit('response.output_item.added', { response_id: this.id, output_index: this.#output.length - 1, item })
    if (added !== null) this.#emit('conversation.item.added', { previous_item_id: added.previous, item })
    return item
  }

  #done(item: Item): void {
    const at = this.#output.findIndex(({ id }) => id === item.id)
    this.#output[at] = item
    this.#emit('response.output_item.done', { response_id: this.id, output_index: at, item })
    if (this.#head.conversationId === null) return
    this.#conversation.replace(item)
    this.#emit('conversation.item.done', { previous_item_id: this.#conversation.before(item.id), item })
  }

  #response(status: string, usage: WireObject | null) {
    const { conversationId, speaks, metadata = null } = this.#head
    return {
      ...{ object: 'realtime.response', id: this.id, status, status_details: null, output: [...this.#output] },
      ...{ conversation_id: conversationId, output_modalities: [speaks ? 'audio' : 'text'], metadata, usage },
    }
  }

  #emit(type: string, fields: WireObject): void {
    this.#send(serverEvent(type, fields))
  }
}
