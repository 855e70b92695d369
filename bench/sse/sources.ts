import { pino } from 'pino'
import type { EventSink, EventStream } from '#runtime/messages/event-stream.ts'
import { Ticker } from '#runtime/ticker.ts'
import type { LogEvent } from '#storage/ports.ts'
import { openServer } from '#transport/http/open-server.ts'
import { loadUws, type UwsResponse } from '#transport/http/uws/uws-binding.ts'
import { SseStreams } from '#transport/streams/sse.ts'

/**
 * Stream that a bench writes to. `send` writes the next `events` events; returns false when the reader must catch up
 * first.
 */
export interface Source {
  send(events: number): boolean
  end(): void
}

/**
 * Server that answers every request with a stream, passed to `Opened`. Its `onResume` registers a listener that is
 * called when the reader has caught up.
 */
export interface SourceServer {
  readonly port: number
  close(): Promise<void>
}

type Opened = (source: Source, onResume: (listener: () => void) => void) => void

const words = ['a', 'durable ', 'turn ', 'streams ', 'its ', 'text ', 'word ', 'by ']

const wordAt = (sequence: number): string => words[sequence % words.length] ?? ''

const frame = (sequence: number): string =>
  `event: response.output_text.delta\nid: ${sequence}\ndata: ${JSON.stringify({ delta: wordAt(sequence) })}\n\n`

/** Hand-written uWebSockets.js: one write per event, or, with `gathered`, one write for all events of a loop turn. */
export const rawSources = (gathered: boolean, opened: Opened): Promise<SourceServer> => {
  const uws = loadUws()
  const app = uws.App()
  app.any('/*', (response) =>
    opened(rawSource(response, gathered), (listener) => response.onWritable(resumed(response, listener))),
  )
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, 1, (token) => {
      if (token === false) throw new Error('cannot listen')
      resolve({ port: uws.us_socket_local_port(token), close: async () => app.close() })
    })
  })
}

/** An empty cork makes the library send its buffered data. */
const resumed = (response: UwsResponse, listener: () => void) => (): boolean => {
  response.cork(() => {})
  listener()
  return true
}

const rawSource = (response: UwsResponse, gathered: boolean): Source => {
  let sequence = 0
  response.onAborted(() => {})
  response.cork(() => response.writeStatus('200 OK').writeHeader('content-type', 'text/event-stream'))
  const write = (text: string): boolean => {
    let more = true
    response.cork(() => {
      more = response.write(text)
    })
    return more
  }
  const frames = (events: number): string => {
    let text = ''
    for (let n = 0; n < events; n++) text += frame(++sequence)
    return text
  }
  const oneByOne = (events: number): boolean => {
    let more = true
    for (let n = 0; n < events; n++) more = write(frame(++sequence))
    return more
  }
  return {
    send: (events) => (gathered ? write(frames(events)) : oneByOne(events)),
    end: () => response.cork(() => response.end()),
  }
}

/** Troupe's streams: log events, each pushed separately, through `src/transport/streams/sse.ts` and the HTTP port. */
export const ourSources = async (opened: Opened): Promise<SourceServer> => {
  const streams = new SseStreams(new Ticker(1000), { openStreams: 0, eventsSent: 0 }, pino({ level: 'silent' }))
  const server = openServer(
    {
      request: (_, response) =>
        streams.serve(ourStream(opened), response, { shortNames: false, reader: 'caller', headers: [], endless: true }),
      upgrade: () => Promise.resolve({ refuse: { status: 404, headers: [], body: '' } }),
    },
    pino({ level: 'silent' }),
    { adapter: 'uws' },
  )
  return { port: await server.listen('127.0.0.1', 0), close: () => server.close(0) }
}

const ourStream = (opened: Opened): EventStream => ({
  start: (sink) => {
    const control = { resume: () => {}, stop: () => {} }
    opened(ourSource(sink), (listener) => {
      control.resume = listener
    })
    return { resume: () => control.resume(), stop: () => {} }
  },
})

const ourSource = (sink: EventSink): Source => {
  let sequence = 0
  const next = (): LogEvent => {
    sequence++
    return { sequence, event_type: 'output_text.delta', turn_number: 1, payload: { delta: wordAt(sequence) } }
  }
  return {
    send: (events) => {
      let more = true
      for (let n = 0; n < events; n++) more = sink.push([next()])
      return more
    },
    end: () => sink.end('done'),
  }
}
