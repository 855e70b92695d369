/** Streams in the format of each provider, for one suite over all of them. */
export interface WireSample {
  readonly id: 'openai' | 'anthropic' | 'google'
  readonly model: string
  /**
   * "Hello wörld 🌍" in two pieces, with 20 input tokens (5 of them cached) and 7 output tokens (2 of them
   * reasoning).
   */
  readonly text: string
  /** Two calls: `get_weather {"city":"Köln"}` and `get_time {}`. */
  readonly calls: string
  /** The first piece of text alone. */
  readonly beginning: string
  /** Text that ends because of its length. */
  readonly tooShort: string
  /** A frame that is not JSON. */
  readonly malformed: string
  /** An error object inside the stream, for an overload. */
  readonly error: string
  readonly rateLimit: object
  readonly tooLong: object
}

const lines = (...data: readonly (object | string)[]): string =>
  data.map((item) => `data: ${typeof item === 'string' ? item : JSON.stringify(item)}\n\n`).join('')

const chunk = (delta: object, finish: string | null = null): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const openAiUsage = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o-mini-2024-07-18',
  choices: [],
  usage: {
    prompt_tokens: 20,
    completion_tokens: 7,
    total_tokens: 27,
    prompt_tokens_details: { cached_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
}
const callDelta = (index: number, fields: object): object => chunk({ tool_calls: [{ index, ...fields }] })
const openAiFirst = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hello ' })]

export const openAi: WireSample = {
  id: 'openai',
  model: 'gpt-4o-mini',
  text: lines(...openAiFirst, chunk({ content: 'wörld 🌍' }), chunk({}, 'stop'), openAiUsage, '[DONE]'),
  calls: lines(
    chunk({ role: 'assistant', content: null }),
    callDelta(0, { id: 'call_a', type: 'function', function: { name: 'get_weather', arguments: '' } }),
    callDelta(0, { function: { arguments: '{"city":' } }),
    callDelta(1, { id: 'call_b', type: 'function', function: { name: 'get_time', arguments: '' } }),
    callDelta(0, { function: { arguments: '"Köln"}' } }),
    callDelta(1, { function: { arguments: '{}' } }),
    chunk({}, 'tool_calls'),
    openAiUsage,
    '[DONE]',
  ),
  beginning: lines(...openAiFirst),
  tooShort: lines(...openAiFirst, chunk({}, 'length'), openAiUsage, '[DONE]'),
  malformed: lines(...openAiFirst, '{"choices":[{"index":0,"delta":{"con'),
  error: lines(...openAiFirst, { error: { message: 'busy', type: 'overloaded_error', code: 'overloaded' } }),
  rateLimit: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  tooLong: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' },
}

const named = (...events: readonly { readonly type: string }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

const anthropicStart = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5-20251001',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 15, cache_read_input_tokens: 5, cache_creation_input_tokens: null, output_tokens: 1 },
  },
}
const open = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const ending = (reason: string) => [
  {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 7, input_tokens: null, output_tokens_details: { thinking_tokens: 2 } },
  },
  { type: 'message_stop' },
]
const anthropicFirst = [
  anthropicStart,
  open(0, { type: 'text', text: '' }),
  { type: 'ping' },
  delta(0, { type: 'text_delta', text: 'Hello ' }),
]
const toolBlock = (index: number, id: string, name: string, ...parts: readonly string[]) => [
  open(index, { type: 'tool_use', id, name, input: {} }),
  ...parts.map((partial_json) => delta(index, { type: 'input_json_delta', partial_json })),
  stop(index),
]

export const anthropic: WireSample = {
  id: 'anthropic',
  model: 'claude-haiku-4-5',
  text: named(...anthropicFirst, delta(0, { type: 'text_delta', text: 'wörld 🌍' }), stop(0), ...ending('end_turn')),
  calls: named(
    anthropicStart,
    open(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
    delta(0, { type: 'signature_delta', signature: 'c2ln' }),
    stop(0),
    ...toolBlock(1, 'call_a', 'get_weather', '{"city":', '"Köln"}'),
    ...toolBlock(2, 'call_b', 'get_time'),
    ...ending('tool_use'),
  ),
  beginning: named(...anthropicFirst),
  tooShort: named(...anthropicFirst, stop(0), ...ending('max_tokens')),
  malformed: `${named(...anthropicFirst)}event: content_block_delta\ndata: {"type":"content_bl\n\n`,
  error: named(
    ...anthropicFirst,
    Object.assign({ type: 'error' }, { error: { type: 'overloaded_error', message: 'busy' } }),
  ),
  rateLimit: { type: 'rate_limit_error', message: 'slow down' },
  tooLong: { type: 'invalid_request_error', message: 'prompt is too long: 300000 tokens > 200000 maximum' },
}

const part = (parts: readonly object[], finishReason?: string): object => ({
  candidates: [
    { index: 0, content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
  modelVersion: 'gemini-2.5-flash',
  ...(finishReason === undefined ? {} : { usageMetadata: googleUsage }),
})
const googleUsage = {
  promptTokenCount: 20,
  cachedContentTokenCount: 5,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 2,
  totalTokenCount: 27,
}

export const google: WireSample = {
  id: 'google',
  model: 'gemini-2.5-flash',
  text: lines(part([{ text: 'a thought', thought: true }, { text: 'Hello ' }]), part([{ text: 'wörld 🌍' }], 'STOP')),
  calls: lines(
    part([
      { functionCall: { id: 'call_a', name: 'get_weather', args: { city: 'Köln' } }, thoughtSignature: 'c2ln' },
      { functionCall: { id: 'call_b', name: 'get_time', args: {} } },
    ]),
    part([], 'STOP'),
  ),
  beginning: lines(part([{ text: 'Hello ' }])),
  tooShort: lines(part([{ text: 'Hello ' }]), part([], 'MAX_TOKENS')),
  malformed: lines(part([{ text: 'Hello ' }]), '{"candidates":[{"con'),
  error: lines(part([{ text: 'Hello ' }]), { error: { code: 503, status: 'UNAVAILABLE', message: 'busy' } }),
  rateLimit: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'slow down' },
  tooLong: { code: 400, status: 'INVALID_ARGUMENT', message: 'The input token count (9) exceeds the maximum' },
}
