import type Anthropic from '@anthropic-ai/sdk'
import { packReasoning } from './anthropic-wire.ts'
import { streamBroken } from './failure.ts'
import type { ModelAnswer, ModelToolCall, ModelUsage } from './provider-port.ts'
import { countOf, objectOf, type WireObject } from './wire.ts'

type ReasoningBlock =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }

/** Puts one answer together from Anthropic's stream events. */
export class AnthropicAnswer {
  readonly #onDelta: (text: string) => void
  readonly #calls = new Map<number, { callId: string; name: string; arguments: string }>()
  readonly #reasoning = new Map<number, ReasoningBlock>()
  #text = ''
  #model: string
  #usage: WireObject = {}
  #stopReason: Anthropic.StopReason | null = null
  #stopped = false

  constructor(model: string, onDelta: (text: string) => void) {
    this.#model = model
    this.#onDelta = onDelta
  }

  /** @throws {TypeError} when an event has not the shape that its type says. */
  push(event: Anthropic.RawMessageStreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#model = event.message.model
        this.#usage = objectOf(event.message.usage)
        break
      case 'content_block_start':
        this.#open(event.index, event.content_block)
        break
      case 'content_block_delta':
        this.#delta(event.index, event.delta)
        break
      case 'message_delta':
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason
        this.#usage = { ...this.#usage, ...withoutNulls(objectOf(event.usage)) }
        break
      case 'message_stop':
        this.#stopped = true
        break
    }
  }

  /** @throws {AttemptFailed} when the stream ended before the answer did. */
  finish(): ModelAnswer {
    if (!this.#stopped || this.#stopReason === null) throw streamBroken()
    return {
      model: this.#model,
      text: this.#text,
      toolCalls: this.#toolCalls(),
      usage: anthropicUsage(this.#usage),
      finishReason: anthropicFinishReason(this.#stopReason),
    }
  }

  #open(index: number, block: Anthropic.RawContentBlockStartEvent['content_block']): void {
    if (block.type === 'tool_use') this.#calls.set(index, { callId: block.id, name: block.name, arguments: '' })
    else if (block.type === 'thinking') this.#reasoning.set(index, { type: 'thinking', thinking: '', signature: '' })
    else if (block.type === 'redacted_thinking')
      this.#reasoning.set(index, { type: 'redacted_thinking', data: block.data })
    else if (block.type === 'text' && block.text !== '') this.#give(block.text)
  }

  #delta(index: number, delta: Anthropic.RawContentBlockDelta): void {
    if (delta.type === 'text_delta') this.#give(delta.text)
    const call = this.#calls.get(index)
    if (delta.type === 'input_json_delta' && call !== undefined) call.arguments += delta.partial_json
    const block = this.#reasoning.get(index)
    if (block?.type !== 'thinking') return
    if (delta.type === 'thinking_delta') block.thinking += delta.thinking
    if (delta.type === 'signature_delta') block.signature += delta.signature
  }

  #give(text: string): void {
    this.#text += text
    this.#onDelta(text)
  }

  #toolCalls(): ModelToolCall[] {
    const reasoning = [...this.#reasoning.values()]
    return [...this.#calls.values()].map((call, place) => ({
      ...call,
      arguments: call.arguments === '' ? '{}' : call.arguments,
      ...(place === 0 && reasoning.length > 0 ? { opaque: packReasoning(reasoning) } : {}),
    }))
  }
}

const finishReasons: Readonly<Partial<Record<string, ModelAnswer['finishReason']>>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** Why the model stopped, in OpenAI's words. */
export const anthropicFinishReason = (stopReason: string): ModelAnswer['finishReason'] =>
  finishReasons[stopReason] ?? 'stop'

/** `input_tokens` leaves out what came from or went into the cache; ours counts all that was read. */
export function anthropicUsage(usage: WireObject): ModelUsage {
  const cachedTokens = countOf(usage.cache_read_input_tokens)
  const cacheWriteTokens = countOf(usage.cache_creation_input_tokens)
  const cacheWriteLongTokens = countOf(objectOf(usage.cache_creation).ephemeral_1h_input_tokens)
  return {
    inputTokens: countOf(usage.input_tokens) + cachedTokens + cacheWriteTokens,
    outputTokens: countOf(usage.output_tokens),
    cachedTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(cacheWriteLongTokens > 0 && { cacheWriteLongTokens }),
    reasoningTokens: countOf(objectOf(usage.output_tokens_details).thinking_tokens),
  }
}

const withoutNulls = (fields: WireObject): WireObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
