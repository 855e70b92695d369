import type { RedactionPolicy, Restorer } from '../calls/redaction.ts'
import type { ModelAnswer, ModelMessage, ModelProvider, ModelRequest } from '../provider-port.ts'

/**
 * A provider that turns and runs ask by a project's policy: what goes out has placeholders, what comes back has the
 * values again, in deltas, in the text and in the arguments of tool calls. Texts are read anew in each call.
 */
export const redactingProvider = (provider: ModelProvider, policy: RedactionPolicy): ModelProvider => ({
  id: provider.id,
  stream: (request, onDelta, signal) => {
    const { redacted, restorer } = redactRequest(request, policy)
    if (restorer === null) return provider.stream(redacted, onDelta, signal)
    return restored(restorer, onDelta, signal, (take) => provider.stream(redacted, take, signal))
  },
  embed: (request, signal) => provider.embed(request, signal),
})

type OnDelta = (text: string) => void

const restored = async (
  restorer: Restorer,
  onDelta: OnDelta,
  signal: AbortSignal,
  ask: (take: OnDelta) => Promise<ModelAnswer>,
): Promise<ModelAnswer> => {
  const words = restorer.fork()
  const hand = (text: string): void => {
    if (text !== '' && !signal.aborted) onDelta(text)
  }
  try {
    const answer = await ask((text) => hand(words.push(text)))
    const toolCalls = answer.toolCalls.map((call) => ({ ...call, arguments: restorer.restore(call.arguments) }))
    return { ...answer, text: restorer.restore(answer.text), toolCalls }
  } finally {
    hand(words.end())
  }
}

interface Redacted {
  readonly redacted: ModelRequest
  readonly restorer: Restorer | null
}

const redactRequest = (request: ModelRequest, policy: RedactionPolicy): Redacted => {
  const { instructions = [], messages } = request
  const texts = [...instructions, ...messages.map(({ content }) => content)]
  const calls = messages.flatMap((message) => callsOf(message).map((call) => call.arguments))
  const found = policy.redact(policy.input ? texts : [], policy.toolArguments ? calls : [])
  const text = inOrder(policy.input ? found.texts : texts)
  const toolArguments = inOrder(policy.toolArguments ? found.toolArguments : calls)
  return {
    redacted: {
      ...request,
      ...(request.instructions !== undefined && { instructions: instructions.map(() => text()) }),
      messages: messages.map((message) => rewritten(message, text(), toolArguments)),
    },
    restorer: found.restorer,
  }
}

const callsOf = (message: ModelMessage) => (message.role === 'assistant' ? message.toolCalls : [])

/** The same message when nothing of it changed: adapters keep what they made of it. */
const rewritten = (message: ModelMessage, content: string, toolArguments: () => string): ModelMessage => {
  if (message.role !== 'assistant') return content === message.content ? message : { ...message, content }
  const toolCalls = message.toolCalls.map((call) => {
    const redacted = toolArguments()
    return redacted === call.arguments ? call : { ...call, arguments: redacted }
  })
  const isSame = content === message.content && toolCalls.every((call, at) => call === message.toolCalls[at])
  return isSame ? message : { ...message, content, toolCalls }
}

const inOrder = (texts: readonly string[]): (() => string) => {
  let next = 0
  return () => texts[next++] ?? ''
}
