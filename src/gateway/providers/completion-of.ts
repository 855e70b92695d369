import { StreamedCalls } from '#gateway/call/streaming/streamed-calls.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

interface ChoiceParts {
  content: string
  refusal: string
  reasoning: string
  /** Log probabilities of the tokens, by what they are of; null for none. */
  logprobs: Record<string, unknown[]> | null
  readonly calls: StreamedCalls
  /** Lists that providers add to a message, such as `thinking_blocks` and `images`. */
  readonly lists: Map<string, unknown[]>
  finish: string | null
  /** How it ended, beside the reason. */
  ending: WireObject
}

/** Assembles the `chat.completion` document from all chunks of a stream. */
export function completionOf(chunks: readonly WireObject[]): WireObject {
  const choices = new Map<number, ChoiceParts>()
  let usage: unknown
  const found: Record<string, unknown> = {}
  for (const chunk of chunks) {
    for (const name of foundFields) if (chunk[name] !== undefined) found[name] = chunk[name]
    for (const choice of arrayOf(chunk.choices)) add(choices, objectOf(choice))
    if (isObject(chunk.usage)) usage = chunk.usage
  }
  const { id, created, model } = chunks[0] ?? {}
  return {
    ...{ id, object: 'chat.completion', created, model },
    choices: [...choices].sort(([a], [b]) => a - b).map(([index, parts]) => choiceDocument(index, parts)),
    ...(usage === undefined ? {} : { usage }),
    ...found,
  }
}

/** Top-level fields that models with web search add to a response. */
const foundFields = ['citations', 'search_results']

function add(choices: Map<number, ChoiceParts>, choice: WireObject): void {
  const index = indexOf(choice)
  const parts = choices.get(index) ?? {
    content: '',
    refusal: '',
    reasoning: '',
    logprobs: null,
    calls: new StreamedCalls(),
    lists: new Map(),
    finish: null,
    ending: {},
  }
  choices.set(index, parts)
  for (const name of endingNames)
    if (textOf(choice[name]) !== '' || isObject(choice[name])) parts.ending = { ...parts.ending, [name]: choice[name] }
  if (typeof choice.finish_reason === 'string') parts.finish = choice.finish_reason
  const delta = objectOf(choice.delta)
  parts.content += textOf(delta.content)
  parts.refusal += textOf(delta.refusal)
  parts.reasoning += textOf(delta.reasoning_content) || textOf(delta.reasoning)
  if (isObject(choice.logprobs)) {
    parts.logprobs ??= {}
    addLogprobs(parts.logprobs, choice.logprobs)
  }
  parts.calls.add(delta.tool_calls)
  for (const name of addedLists) {
    if (arrayOf(delta[name]).length > 0)
      parts.lists.set(name, [...(parts.lists.get(name) ?? []), ...arrayOf(delta[name])])
  }
}

const addLogprobs = (found: Record<string, unknown[]>, more: WireObject): void => {
  for (const name of ['content', 'refusal']) {
    const tokens = arrayOf(more[name])
    if (tokens.length > 0) found[name] = found[name] ?? []
    found[name]?.push(...tokens)
  }
}

/** The stop sequence that ended a choice, the provider's own reason, and the container of its tools. */
const endingNames = ['stop_reason', 'native_finish_reason', 'container']

const addedLists = ['thinking_blocks', 'reasoning_details', 'images', 'annotations', 'citations']

const indexOf = ({ index }: WireObject): number => (typeof index === 'number' ? index : 0)

function choiceDocument(index: number, parts: ChoiceParts): WireObject {
  const { content, refusal, reasoning, logprobs, calls, lists, finish, ending } = parts
  const { whole: tool_calls } = calls
  const message = {
    role: 'assistant',
    content: content === '' && tool_calls.length > 0 ? null : content,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...Object.fromEntries(lists),
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
  }
  return { index, message, logprobs: logprobsOf(logprobs), finish_reason: finish, ...ending }
}

/** OpenAI's documents have both lists, and null for one without tokens. */
const logprobsOf = (found: ChoiceParts['logprobs']): WireObject | null =>
  found === null ? null : { content: null, refusal: null, ...found }
