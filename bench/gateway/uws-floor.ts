import { createRequire } from 'node:module'
import { Pool } from 'undici'

/*
 * Bare proxy on uWebSockets.js and undici, the fastest that the design allows: no auth, limits, metering or log. `node
 * bench/gateway/uws-floor.ts PORT UPSTREAM_PORT`
 */

interface Response {
  onAborted(listener: () => void): void
  onData(listener: (part: ArrayBuffer, last: boolean) => void): void
  cork(write: () => void): void
  writeStatus(status: string): Response
  writeHeader(name: string, value: string): Response
  write(part: Buffer): boolean
  end(part?: Buffer): void
}
interface App {
  post(path: string, handler: (response: Response) => void): App
  listen(host: string, port: number, listening: () => void): void
}

const uws: { App(): App } = createRequire(import.meta.url)('uWebSockets.js')
const [port = 0, upstreamPort] = process.argv.slice(2).map(Number)
const pool = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: 64, pipelining: 1 })
const headers = { 'content-type': 'application/json' }

const relay = (response: Response, body: Buffer, gone: { aborted: boolean; abort: (() => void) | null }): void => {
  const isStream = JSON.parse(body.toString('utf8')).stream === true
  const parts: Buffer[] = []
  pool.dispatch(
    { path: '/v1/chat/completions', method: 'POST', headers, body },
    {
      onRequestStart: (controller) => {
        gone.abort = () => controller.abort(new Error('gone'))
      },
      onResponseStart: (_, status, { 'content-type': type = '' }) => {
        if (gone.aborted) return
        response.cork(() => response.writeStatus(String(status)).writeHeader('content-type', String(type)))
      },
      onResponseData: (_, part) => {
        if (gone.aborted) return
        if (isStream) response.cork(() => response.write(part))
        else parts.push(part)
      },
      onResponseEnd: () => {
        gone.abort = null
        if (!gone.aborted) response.cork(() => response.end(isStream ? undefined : Buffer.concat(parts)))
      },
      onResponseError: () => {
        gone.abort = null
        if (!gone.aborted) response.cork(() => response.writeStatus('502').end(Buffer.from('{}')))
      },
    },
  )
}

uws
  .App()
  .post('/v1/chat/completions', (response) => {
    const gone: { aborted: boolean; abort: (() => void) | null } = { aborted: false, abort: null }
    const parts: Buffer[] = []
    response.onAborted(() => {
      gone.aborted = true
      gone.abort?.()
    })
    response.onData((part, last) => {
      parts.push(Buffer.from(Buffer.from(part)))
      if (last) relay(response, Buffer.concat(parts), gone)
    })
  })
  .listen('127.0.0.1', port, () => {})
