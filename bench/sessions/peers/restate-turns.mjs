import http from 'node:http'
import http2 from 'node:http2'
import * as restate from '@restatedev/restate-sdk'

/*
 * Turns on Restate: `restate-turns.mjs PORT HANDLER_PORT INGRESS_PORT MODEL_PORT`. `POST /turns/<key>` starts a turn of the
 * object with that key at the ingress, and streams the text of its model's answer.
 *
 * Restate has no streams for readers. The object's handler reads the answer within one durable step and passes each
 * delta to the reader in this process, which is the least that such a stream can cost.
 */
const [port, handlerPort, ingressPort, modelPort] = process.argv.slice(2).map(Number)
const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
const json = { 'content-type': 'application/json' }
const readers = new Map()

const session = restate.object({
  name: 'session',
  handlers: {
    turn: async (context, input) => {
      const messages = [...((await context.get('messages')) ?? []), { role: 'user', content: input }]
      context.set('messages', messages)
      const content = await context.run('model', () => answered(messages, readers.get(context.key)))
      context.set('messages', [...messages, { role: 'assistant', content }])
      return content
    },
  },
})

const handler = restate.endpoint().bind(session).http2Handler()
http2.createServer(handler).listen(handlerPort, '127.0.0.1')
http.createServer(serve).listen(port, '127.0.0.1', 4096)

function serve(request, response) {
  const key = request.url.slice('/turns/'.length)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  readers.set(key, response)
  request.resume()
  const turn = {
    agent,
    host: '127.0.0.1',
    port: ingressPort,
    method: 'POST',
    path: `/session/${key}/turn`,
    headers: json,
  }
  const started = http.request(turn, (answer) => {
    answer.resume().on('end', () => {
      readers.delete(key)
      response.end(answer.statusCode === 200 ? 'data: [DONE]\n\n' : `data: ${answer.statusCode}\n\n`)
    })
  })
  started.on('error', () => response.destroy())
  started.end('"hello"')
}

/** Calls the model, passes on its text in the order in which it arrives, and returns all of it. */
function answered(messages, reader) {
  return new Promise((resolve, reject) => {
    const call = {
      agent,
      host: '127.0.0.1',
      port: modelPort,
      method: 'POST',
      path: '/v1/chat/completions',
      headers: json,
    }
    const sent = http.request(call, (answer) => {
      let [rest, content] = ['', '']
      answer.setEncoding('utf8').on('data', (part) => {
        const frames = (rest + part).split('\n\n')
        rest = frames.pop()
        for (const frame of frames) {
          const text = textOf(frame)
          if (text === '') continue
          content += text
          reader?.write(`data: ${JSON.stringify({ delta: text })}\n\n`)
        }
      })
      answer.on('end', () => resolve(content)).on('error', reject)
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages }))
  })
}

const textOf = (frame) => (frame === 'data: [DONE]' ? '' : (JSON.parse(frame.slice(6)).choices[0]?.delta.content ?? ''))
