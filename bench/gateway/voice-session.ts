import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from '#scripts/services/server.ts'
import { freePort } from '#scripts/services/service.ts'
import { RealtimeConnection } from '#test/gateway/realtime/realtime-socket.ts'
import { sized } from '../extent.ts'
import { median, type Row } from '../row.ts'

const turns = sized(40, 2)
const warmUpTurns = sized(10, 1)
/** Times of the provider's three models until their first byte, in ms. */
const times = { transcript: 50, text: 60, speech: 40 } as const
const samples = Buffer.alloc(48_000, 1)

/**
 * Measures from the end of the user's speech to the first audio of the answer, in a session over a text model with models
 * of their own for speech in and out, beside a client that makes the same three calls at the provider one after another.
 * The two alternate, so that what else runs on the machine affects both.
 */
export async function benchVoiceSession(key: string): Promise<readonly Row[]> {
  const provider = await startProvider()
  const env = { BOOTSTRAP_SECRET_KEY: key, OPENAI_API_KEY: 'bench', OPENAI_BASE_URL: `${provider.url}/v1` }
  const server = await startServer({ ...env, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  const session = new RealtimeConnection(`${server.url}/v1/realtime?model=bench`, { key })
  try {
    await session.exchange({ type: 'session.update', session: configuration }, 'session.updated')
    const taken: { ours: number; plain: number }[] = []
    for (let turn = 0; turn < warmUpTurns + turns; turn++) {
      const isOddTurn = turn % 2 === 1
      const first = isOddTurn ? await plainTurn(provider.url) : await sessionTurn(session)
      const second = isOddTurn ? await sessionTurn(session) : await plainTurn(provider.url)
      if (turn >= warmUpTurns) taken.push(isOddTurn ? { ours: second, plain: first } : { ours: first, plain: second })
    }
    return [
      {
        ...{ measure: 'voice session, end of speech to first audio, p50', unit: 'ms' },
        ours: median(taken.map(({ ours }) => ours)),
        against: { name: 'the three calls themselves', value: median(taken.map(({ plain }) => plain)) },
      },
      {
        ...{ measure: 'added to them by the session, p50', unit: 'ms' },
        ours: median(taken.map(({ ours, plain }) => ours - plain)),
        bound: { of: 'ours', atMost: 30 },
      },
    ]
  } finally {
    session.close()
    await server.stop()
    provider.close()
  }
}

const configuration = {
  type: 'realtime',
  audio: {
    input: { turn_detection: null, transcription: { model: 'openai/whisper-1' } },
    output: { model: 'openai/tts-1' },
  },
}

/** The client commits what it said, and waits for the first audio of the answer. */
const sessionTurn = async (session: RealtimeConnection): Promise<number> => {
  session.send({ type: 'input_audio_buffer.append', audio: samples.toString('base64') })
  const from = session.events.length
  const since = performance.now()
  session.send({ type: 'input_audio_buffer.commit' })
  session.send({ type: 'response.create' })
  await session.until('response.output_audio.delta', from)
  const taken = performance.now() - since
  const { response } = await session.until('response.done', from)
  if (response.status !== 'completed') throw new Error(`a response ended as ${response.status}`)
  return taken
}

const plainTurn = async (url: string): Promise<number> => {
  const since = performance.now()
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('file', new Blob([samples]), 'audio.wav')
  await (await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form })).json()
  for (const path of ['chat/completions', 'audio/speech']) {
    const answer = await fetch(`${url}/v1/${path}`, { method: 'POST', body: '{}' })
    const reader = answer.body?.getReader()
    await reader?.read()
    if (path === 'audio/speech') break
    void reader?.cancel()
  }
  return performance.now() - since
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

/** A provider whose models answer after their times: text by one whole sentence and the beginning of another. */
const startProvider = async () => {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await buffer(request)
    const { url = '' } = request
    if (url.endsWith('/transcriptions')) {
      await sleep(times.transcript)
      response.setHeader('content-type', 'application/json')
      response.end('{"text":"Hello there, how are you?"}')
    } else if (url.endsWith('/speech')) {
      await sleep(times.speech)
      response.setHeader('content-type', 'audio/pcm')
      response.end(samples)
    } else if (request.method === 'POST') {
      await sleep(times.text)
      response.setHeader('content-type', 'text/event-stream')
      response.end(
        `${chunk({ role: 'assistant', content: 'I am well, thank you. ' })}${chunk({}, 'stop')}data: [DONE]\n\n`,
      )
    } else response.end('{"data":[]}')
  }
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, close }
}
