import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { Ticker } from '#runtime/ticker.ts'
import { SseStreams } from '#transport/streams/sse.ts'
import { delta, FakeLog } from '../http/fakes.ts'
import { head } from '../http/raw-client.ts'
import { later, serving } from '../http/serving.ts'

const options = { shortNames: true, reader: 'person' as const, headers: [], endless: true }

/** Contract of every HTTP adapter: server-sent events. */
export const sseWireSuite = (adapter: 'uws' | 'node'): void => {
  const { serve, client } = serving(adapter)

  const streams = () => new SseStreams(new Ticker(1000), { openStreams: 0, eventsSent: 0 }, pino({ level: 'silent' }))

  /** Appends `events` large events as fast as the reader takes them, then ends the log; returns their counter. */
  const produce = (log: FakeLog, events: number): (() => number) => {
    const text = 'x'.repeat(10_000)
    let appended = 0
    log.onResume = () => {
      while (appended < events) {
        appended++
        if (!log.append(delta(text))) return
      }
      log.end('done')
    }
    log.onResume()
    return () => appended
  }

  describe('SSE', () => {
    it('sends the head of a stream before its first event', async () => {
      const [log, sse] = [new FakeLog(), streams()]
      const { url } = await serve((_, response) => sse.serve(log.follow(null), response, options))
      const answer = await fetch(url)
      expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      log.append(delta('first'))
      log.end('done')
      expect(await answer.text()).toBe(': open\n\nevent: output_text.delta\nid: 1\ndata: {"delta":"first"}\n\n')
    })

    it('sends a stream that ends at once as exactly its frames', async () => {
      const sse = streams()
      const { url } = await serve((_, response) => {
        const log = new FakeLog()
        sse.serve(log.follow(null), response, options)
        log.append(delta('all'))
        log.end('done')
      })
      expect(await (await fetch(url)).text()).toBe('event: output_text.delta\nid: 1\ndata: {"delta":"all"}\n\n')
    })

    it('aborts a lost stream after the events that came before', async () => {
      const [log, sse] = [new FakeLog(), streams()]
      const { port } = await serve((_, response) => sse.serve(log.follow(null), response, options))
      const raw = await client(port)
      raw.write(head('GET', '/'))
      await raw.until('open')
      log.append(delta('so far'))
      log.end('lost')
      const seen = await raw.closed
      expect(seen).toContain('so far')
      expect(seen.endsWith('0\r\n\r\n')).toBe(false)
    })

    it('lets a slow reader delay its own stream only', async () => {
      const [slowLog, quickLog, sse] = [new FakeLog(), new FakeLog(), streams()]
      const { port } = await serve((request, response) =>
        sse.serve((request.path === '/slow' ? slowLog : quickLog).follow(null), response, options),
      )
      const [slow, quick] = [await client(port), await client(port)]
      slow.write(head('GET', '/slow', 'connection: close'))
      quick.write(head('GET', '/quick'))
      await Promise.all([slow.until('open'), quick.until('open')])
      slow.socket.pause()
      const events = 3000
      const appended = produce(slowLog, events)
      for (let n = 1; n <= 100; n++) quickLog.append(delta(`<${n}>`))
      await quick.until('<100>')
      expect(appended()).toBeLessThan(events)
      slow.socket.resume()
      expect((await slow.closed).match(/id: \d+\n/g)).toEqual(
        Array.from({ length: events }, (_, at) => `id: ${at + 1}\n`),
      )
    })

    it('stops the stream when the client disconnects', async () => {
      const stopped = later<void>()
      const sse = streams()
      const { port } = await serve((_, response) =>
        sse.serve({ start: () => ({ resume: () => {}, stop: stopped.resolve }) }, response, options),
      )
      const raw = await client(port)
      raw.write(head('GET', '/'))
      await raw.until('open')
      raw.socket.destroy()
      await expect(stopped.promise).resolves.toBeUndefined()
    })
  })
}
