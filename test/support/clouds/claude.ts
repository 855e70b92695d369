import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { answerText, picture, type Shape } from './cloud-server.ts'

const cache_control: Shape = { type: null, ttl: null }
const source: Shape = { type: null, media_type: null, data: null, content: [{ type: null, text: null, cache_control }] }
const inner: Shape = { type: null, text: null, source, cache_control }
/** Beta features that every cloud has; a request that names another is refused. */
const betas = ['context-management-2025-06-27', 'interleaved-thinking-2025-05-14', 'tool-search-tool-2025-10-19']
/** The body of Anthropic's Messages at a cloud. */
export const claude: Shape = {
  ...{
    anthropic_version: null,
    anthropic_beta: [null],
    max_tokens: null,
    stream: null,
    temperature: null,
    top_p: null,
    top_k: null,
    stop_sequences: [null],
    thinking: null,
    context_management: { edits: [null] },
  },
  system: [{ type: null, text: null, cache_control }],
  messages: [
    {
      role: null,
      content: [
        {
          ...{ type: null, text: null, cache_control, id: null, name: null, input: null },
          ...{ source, tool_use_id: null, is_error: null, thinking: null, signature: null, title: null, context: null },
          content: [inner],
          citations: null,
        },
      ],
    },
  ],
  tools: [
    {
      ...{ type: null, name: null, description: null, input_schema: null, strict: null, cache_control },
      ...{ defer_loading: null, input_examples: null },
    },
  ],
  tool_choice: { type: null, name: null, disable_parallel_tool_use: null },
  output_config: { effort: null, format: { type: null, schema: null } },
}

/** The beta features of a request that a cloud refuses. */
export const foreignBetas = (named: readonly unknown[], more: readonly string[] = []): readonly unknown[] =>
  named.filter((name) => ![...betas, ...more].includes(textOf(name)))

/** An answer of Claude, and the events of its stream; the last three are the end of its text, the reason to stop, and the end. */
interface ClaudeReply {
  readonly scenario: string
  readonly whole: WireObject
  readonly events: readonly WireObject[]
}

/** Answers the last message, whose text is the name of a scenario. */
export const claudeReply = (body: WireObject): ClaudeReply => {
  const blocks = arrayOf(objectOf(arrayOf(body.messages).at(-1)).content).map(objectOf)
  const scenario = blocks.map(({ text }) => textOf(text)).join('')
  if (scenario === 'consider') return consideredReply
  const usage = usageOf(scenario, blocks)
  const content = claudeAnswer(body, blocks, scenario)
  const isCall = content.type === 'tool_use'
  const stop_reason = isCall ? 'tool_use' : 'end_turn'
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-haiku-4-5' }
  const at = { index: 0 }
  const { input: given, ...named } = content
  const delta = isCall
    ? { type: 'input_json_delta', partial_json: JSON.stringify(given) }
    : { type: 'text_delta', text: content.text }
  return {
    scenario,
    whole: { ...message, content: [content], stop_reason, usage: { ...usage, output_tokens: 7 } },
    events: [
      { type: 'message_start', message: { ...message, content: [], usage: { ...usage, output_tokens: 1 } } },
      {
        type: 'content_block_start',
        ...at,
        content_block: isCall ? { ...named, input: {} } : { type: 'text', text: '' },
      },
      { type: 'content_block_delta', ...at, delta },
      { type: 'content_block_stop', ...at },
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 7 } },
      { type: 'message_stop' },
    ],
  }
}

const citation = {
  ...{ type: 'char_location', cited_text: 'Known.', document_index: 0, document_title: 'Base' },
  ...{ start_char_index: 0, end_char_index: 6 },
}
/** Tokens read from the cache, and written to it for five minutes and an hour. */
const cacheUsage = {
  ...{ input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 30 },
  cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
}
/** The blocks of an answer with thinking and a citation. */
export const considered: readonly WireObject[] = [
  { type: 'thinking', thinking: 'Hm.', signature: 'signed==' },
  { type: 'text', text: 'It is known', citations: [citation] },
  { type: 'text', text: '.' },
]

const consideredReply: ClaudeReply = {
  scenario: 'consider',
  whole: {
    ...{ id: 'msg_2', type: 'message', role: 'assistant', model: 'claude-haiku-4-5', stop_reason: 'end_turn' },
    ...{ content: considered, usage: { ...cacheUsage, output_tokens: 7 } },
  },
  events: [
    { type: 'message_start', message: { id: 'msg_2', role: 'assistant', usage: { ...cacheUsage, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'signed==' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '', citations: [] } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'It is known' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation } },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: '.' } },
    { type: 'content_block_stop', index: 2 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ],
}

const usageOf = (scenario: string, blocks: readonly WireObject[]): WireObject => {
  if (scenario !== 'cached') return { input_tokens: 120, cache_read_input_tokens: 0 }
  const isMarked = blocks.some((block) => isObject(block.cache_control))
  const written = isMarked ? { input_tokens: 10, cache_creation_input_tokens: 10 } : { input_tokens: 20 }
  return { ...written, cache_read_input_tokens: 100 }
}

const claudeAnswer = (body: WireObject, blocks: readonly WireObject[], scenario: string): WireObject => {
  const text = (given: string): WireObject => ({ type: 'text', text: given })
  const result = blocks.find(({ type }) => type === 'tool_result')
  if (result !== undefined) return text(`It is ${textOf(objectOf(arrayOf(result.content)[0]).text)}.`)
  if (scenario === 'tool' && arrayOf(body.tools).length === 1)
    return { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }
  const image = blocks.find(({ type }) => type === 'image')
  if (image !== undefined) return text(objectOf(image.source).data === picture ? 'A picture.' : 'Nothing.')
  const isJson = isObject(objectOf(body.output_config).format)
  return text(scenario === 'json' && isJson ? '{"city":"Oslo"}' : answerText)
}
