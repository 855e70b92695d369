/** What of the gateway holds for the calls of an operation. */
export interface ModelEndpoint {
  /**
   * Rules of the routing policy that apply. `any`: all of them. `named`: those that name the requested model, since a model
   * of another kind could not serve the call.
   */
  readonly rules: 'any' | 'named'
  /** Whether the requested model serves the call when that of a rule fails. Vectors of two models cannot be compared. */
  readonly fallsBack: boolean
  /** Whether a shadow model gets copies. */
  readonly shadows: boolean
  /** What guardrails check. */
  readonly guarded: 'input' | 'output' | 'both'
  /** Whether answers are stored for later calls. */
  readonly cached: boolean
}

const chat: ModelEndpoint = { rules: 'any', fallsBack: true, shadows: true, guarded: 'both', cached: true }
const document: ModelEndpoint = { rules: 'named', fallsBack: true, shadows: false, guarded: 'input', cached: false }
const vectors: ModelEndpoint = { ...document, fallsBack: false, cached: true }

/** The operations that call a model for their answer, and those of the calls of turns and runs. */
export const modelEndpoints: Readonly<Record<string, ModelEndpoint>> = {
  'chat_completions.create': chat,
  'ai_chat.create': chat,
  'responses.create': chat,
  'responses.compact': chat,
  'messages.create': chat,
  'gemini.generate': chat,
  'gemini.stream': chat,
  'vision.analyze': chat,
  'vision.describe': chat,
  'vision.ocr': chat,
  'vision.classify': chat,
  'actor.callModel': chat,
  'realtime.connect': { ...chat, shadows: false },
  'embeddings.create': vectors,
  'gemini.embed': vectors,
  'gemini.embed_batch': vectors,
  'completions.create': { ...document, guarded: 'both', cached: true },
  'rerank.create': { ...document, cached: true },
  'moderations.create': document,
  'images.generate': { ...document, guarded: 'both' },
  'images.edit': { ...document, guarded: 'both' },
  'images.vary': { ...document, guarded: 'both' },
  'speech.speak': document,
  'transcriptions.transcribe': { ...document, guarded: 'both' },
  'transcriptions.translate': { ...document, guarded: 'both' },
}

/** Operations of models that make no such call themselves: they read, count tokens, or begin work whose calls are other operations'. */
export const otherModelOperations: ReadonlySet<string> = new Set([
  ...['responses.cancel', 'responses.input_tokens', 'messages.count_tokens', 'gemini.count_tokens'],
  ...['conversations.create', 'conversations.update', 'conversation_items.add'],
  ...['batches.create', 'batches.cancel', 'message_batches.create', 'message_batches.cancel'],
])
