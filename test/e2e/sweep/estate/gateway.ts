import { randomBytes } from 'node:crypto'
import { KnowledgeBase } from '#test/e2e/knowledge/knowledge-world.ts'
import type { EstatePart, Ids, Site } from './estate-part.ts'

const model = 'simulated-1'
const messages = [{ role: 'user', content: 'hi' }]
const hello = (n: number) => [{ role: 'user', content: `hello ${n}` }]
const tools = [{ name: 'f', input_schema: { type: 'object' } }]
const items = (text: string) => [{ type: 'message', role: 'user', content: text }]

/** The estate of the gateway: connections, custom providers, responses, conversations. */
export const gateway: EstatePart = {
  make: async (site) => {
    const { api, dashboard, project, mark, hook, id } = site
    const ending = randomBytes(6).toString('hex')
    const modelId = `model-${ending}`
    const { body } = await dashboard.post(`/api/projects/${project}/providers`, {
      ...{ name: mark, baseUrl: hook, format: 'openai', apiKey: 'key-1', models: [{ name: mark, modelId }] },
    })
    const request_id = `request-${ending}`
    const headers = { 'x-request-id': request_id, 'x-tenant-id': id('tenant_id') }
    await api.post('/v1/embeddings', { model, input: mark }, { headers })
    const ids = { provider_id: body.provider.id, model: modelId, request_id }
    return { ...ids, ...(await answered(site)), ...(await batched(site)) }
  },
  bodies: {
    'provider_connections.create': ({ mark, hook }, n) => ({
      ...{ name: `Connection ${mark} ${n}`, provider: `own-${mark}`, base_url: hook, api_key: `key-${n}` },
    }),
    'custom_providers.create': ({ mark, hook }, n) => ({
      ...{ name: `Server ${mark} ${n}`, baseUrl: hook, format: 'openai' },
    }),
    'limits.create': ({ id }, n) => ({
      ...{ subject: 'tenant', subject_id: id('subject_id'), requests_per_minute: 9_000 + n },
    }),
    'ai_chat.create': (_, n) => ({ model, messages: hello(n) }),
    'chat_completions.create': (_, n) => ({ model, messages: hello(n) }),
    'messages.create': (_, n) => ({ model, max_tokens: 50, messages: hello(n), tools }),
    'messages.count_tokens': () => ({ model, messages, tools }),
    'gemini.generate': (_, n) => ({ contents: [{ parts: [{ text: `hello ${n}` }] }] }),
    'gemini.stream': (_, n) => ({ contents: [{ parts: [{ text: `hi ${n}` }] }] }),
    'gemini.count_tokens': () => ({ contents: [{ parts: [{ text: 'hi' }] }] }),
    'gemini.embed': (_, n) => ({ content: { parts: [{ text: `text ${n}` }] } }),
    'gemini.embed_batch': (_, n) => ({ requests: [{ content: { parts: [{ text: `text ${n}` }] } }] }),
    'responses.create': ({ mark }, n) => ({ model, input: `say ${mark} ${n}` }),
    'responses.input_tokens': () => ({ model, input: 'hi' }),
    'responses.compact': () => ({ model, input: 'hi' }),
    'conversations.create': ({ mark }, n) => ({ metadata: { mark: `${mark} ${n}` } }),
    'batches.create': ({ id, mark }, n) => ({
      ...{ input_file_id: id('input_file_id'), endpoint: '/v1/embeddings', completion_window: '24h' },
      metadata: { mark: `${mark} ${n}` },
    }),
    'message_batches.create': ({ mark }, n) => ({ requests: [messageOf(`${mark}-${n}`)] }),
    'embeddings.create': (_, n) => ({ model, input: `text ${n}` }),
    'moderations.create': ({ mark }, n) => ({ model: `${mark}/m1`, input: `text ${n}` }),
    'completions.create': ({ mark }, n) => ({ model: `${mark}/m1`, prompt: `hello ${n}` }),
    'rerank.create': ({ mark }, n) => ({ model: `${mark}/m1`, query: `text ${n}`, documents: ['a', 'b'] }),
  },
  // an item in a body is supplied by the caller, and cursors are positions
  noIds: ['item_id', 'container_id', 'tool_call_id', 'after_id', 'before_id'],
  changing: ['models.get', 'batches.list', 'batches.get', 'message_batches.list', 'message_batches.get'],
  passesOn: [
    ...['ai_chat.create', 'chat_completions.create', 'responses.create', 'messages.create'],
    ...['messages.count_tokens', 'embeddings.create'],
  ],
  shownBy: {
    'custom_providers.update models': 'test/gateway/routing/custom-providers.test.ts',
    'ai_chat.create models': 'test/gateway/apis/ai-chat.test.ts',
    'ai_chat.create userId': 'test/gateway/apis/ai-chat.test.ts',
    'ai_chat.create user_id': 'test/gateway/apis/ai-chat.test.ts',
    'responses.create models': 'test/gateway/apis/responses.test.ts',
    'responses.create include': 'test/gateway/apis/file-search.test.ts',
    'chat_completions.create models': 'test/gateway/chat/fallbacks.test.ts',
    'messages.create thread': 'test/gateway/apis/message-threads.test.ts',
    'embeddings.create models': 'test/gateway/embeddings/embedding-calls.test.ts',
  },
  beyondSchema: {
    'provider_connections.create': 'a URL as of webhooks; a provider that nobody knows has one',
    'provider_connections.update': 'likewise',
    'provider_connections.validate': 'likewise',
    'custom_providers.create': 'a URL as of webhooks',
    'custom_providers.update': 'likewise',
    'custom_providers.test': 'it names a provider or a URL',
    'routing_policy.update': 'rules name models that a provider of the project serves',
    'limits.create': 'it names whom it limits, and sets one limit',
    'redaction_policy.update': 'apply_to names the logs, and phone_region a country',
    'ai_chat.create': 'messages say something, and tools and formats are ones that models know',
    'responses.create': 'items are of kinds that are taken, calls have outputs, and something is said',
    'responses.cancel': 'a response that is made in the background',
    'responses.compact': 'items as of responses.create',
    'responses.input_tokens': 'likewise',
    'conversations.create': 'likewise',
    'conversation_items.add': 'likewise',
    'messages.create': 'blocks and tools are of kinds that are taken',
    'messages.count_tokens': 'likewise',
    'gemini.generate': 'likewise, and roles are those of a user and a model',
    'gemini.stream': 'likewise',
    'gemini.count_tokens': 'likewise',
    'gemini.embed': 'parts are texts',
    'gemini.embed_batch': 'likewise',
    'batches.create': 'a file is uploaded for a batch, and a window is at most 7 days',
    'batches.cancel': 'a batch that has not ended',
    'message_batches.create': 'ids are given once, and answers are not streamed',
    'message_batches.cancel': 'a batch that has not ended',
    'message_batches.results': 'a batch that has ended',
    'message_batches.delete': 'likewise',
    'embeddings.create': 'a model makes vectors of so many dimensions and no more',
    'chat_completions.create': 'what a model refuses is refused in its words',
    'vision.analyze': 'an image is there, it is one, and its address is one that may be fetched',
    'vision.describe': 'likewise',
    'vision.ocr': 'likewise',
    'vision.classify': 'likewise',
    'speech.speak': 'a model is one that speaks, with that voice and in that format',
    'moderations.create': 'a provider that offers it has a key',
    'completions.create': 'likewise',
    'rerank.create': 'likewise',
    'images.generate': 'likewise',
    'images.edit': 'likewise, and images are there, and are ones',
    'images.vary': 'likewise',
    'transcriptions.translate': 'the file is audio',
    'transcriptions.transcribe': 'the file is audio, and the model one that transcribes it to that form',
  },
}

/** Creates a response, and a conversation with one item. */
const answered = async ({ api, mark, made }: Site): Promise<Ids> => {
  const response_id = await made('/v1/responses', { model, input: `say ${mark}` })
  const conversation_id = await made('/v1/conversations', { metadata: { mark } })
  const { body } = await api.post(`/v1/conversations/${conversation_id}/items`, { items: items(mark) })
  return { response_id, previous_response_id: response_id, conversation_id, item_id: body.data[0].id }
}

/** A request of a message batch. */
const messageOf = (text: string) => ({
  ...{ custom_id: text.replaceAll(/[^\w-]/g, '-').slice(-64), params: { model, max_tokens: 5, messages } },
})

/** Uploads a file for batches, and begins one. */
const batched = async ({ api, mark, id }: Site): Promise<Ids> => {
  const own = api.with({ 'x-tenant-id': id('tenant_id') })
  const body = { model, input: mark }
  const line = JSON.stringify({ custom_id: mark, method: 'POST', url: '/v1/embeddings', body })
  const upload = await new KnowledgeBase(own, '').form('/v1/files', `${mark}.jsonl`, line, { purpose: 'batch' })
  const request = { input_file_id: upload.body.id, endpoint: '/v1/embeddings', completion_window: '24h' }
  const begun = await own.post('/v1/batches', request)
  const messaged = await own.post('/v1/messages/batches', { requests: [messageOf(mark)] })
  return { input_file_id: upload.body.id, batch_id: begun.body.id, message_batch_id: messaged.body.id }
}
