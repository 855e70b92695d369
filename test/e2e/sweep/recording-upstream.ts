import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A model server with the APIs of OpenAI and Anthropic that records its requests. */
export interface RecordingUpstream {
  readonly url: string
  readonly host: string
  /** Methods, paths and bodies of the requests since the last call. */
  sent(): string
  close(): Promise<void>
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

/** Answers by path suffix. */
const answers: Readonly<Record<string, object>> = {
  '/models': { data: [{ id: 'recorded-1' }] },
  '/chat/completions': {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'recorded-1',
    choices: [{ index: 0, message: { role: 'assistant', content: '{"a":1}' }, finish_reason: 'stop' }],
    usage,
  },
  '/messages': {
    ...{
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'recorded-2',
      stop_reason: 'end_turn',
      stop_sequence: null,
    },
    content: [{ type: 'text', text: 'x' }],
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  '/embeddings': { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.5] }], usage },
  '/count_tokens': { input_tokens: 3 },
  '/moderations': { id: 'modr-1', model: 'recorded-1', results: [] },
  '/completions': { id: 'cmpl-1', object: 'text_completion', choices: [{ index: 0, text: 'x' }], usage },
  '/rerank': { results: [{ index: 0, relevance_score: 1 }] },
}

export const startRecordingUpstream = async (): Promise<RecordingUpstream> => {
  let sent: string[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const path = request.url ?? ''
      sent.push(`${request.method} ${path} ${Buffer.concat(parts).toString()}`)
      const end = Object.keys(answers).find((each) => path.endsWith(each))
      response.writeHead(end === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(end === undefined ? {} : answers[end]))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(server.address())
  return {
    url: `http://127.0.0.1:${port}/v1`,
    host: `127.0.0.1:${port}`,
    sent: () => {
      const all = sent.join('\n')
      sent = []
      return all
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
