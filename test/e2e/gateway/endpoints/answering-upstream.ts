import { type Answer, openUpstream, whole } from '#test/gateway/call/scripted-upstream.ts'

/** What every model of {openAnsweringUpstream} says. */
export const said = 'I see a kestrel.'

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const head = { id: 'one', created: 1, model: 'served' }
const stop = { index: 0, finish_reason: 'stop' }

const completion = {
  ...head,
  object: 'chat.completion',
  usage,
  choices: [{ ...stop, message: { role: 'assistant', content: said } }],
}
const chunks = [
  { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { role: 'assistant', content: said } }] },
  { ...head, object: 'chat.completion.chunk', choices: [{ ...stop, delta: {} }], usage },
]

/** Documents by the last word of their path. */
const documents: Readonly<Record<string, object>> = {
  embeddings: {
    object: 'list',
    model: 'served',
    usage,
    data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
  },
  moderations: { id: 'one', model: 'served', results: [{ flagged: false, categories: {}, category_scores: {} }] },
  rerank: { results: [{ index: 0, relevance_score: 0.5 }], usage },
  generations: { created: 1, data: [{ b64_json: 'aGk=', revised_prompt: said }] },
  edits: { created: 1, data: [{ b64_json: 'aGk=', revised_prompt: said }] },
  transcriptions: { text: said },
  translations: { text: said },
}

const answered: Answer = (response, { path, body }) => {
  const word = path.split('/').at(-1) ?? ''
  if (word === 'speech') response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('audio')
  else if (body.stream === true)
    whole(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)(response, {
      path,
      body,
      headers: {},
      closed: Promise.resolve(0),
    })
  else {
    const legacy = { ...head, object: 'text_completion', usage, choices: [{ ...stop, text: said }] }
    const document = documents[word] ?? (path.includes('/chat/') ? completion : legacy)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  }
}

/** A server of OpenAI's format that answers every operation of models. */
export const openAnsweringUpstream = async () => {
  const upstream = await openUpstream()
  upstream.script(answered)
  return upstream
}
