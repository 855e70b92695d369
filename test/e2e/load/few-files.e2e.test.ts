import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeOptions } from '#scripts/services/server.ts'
import { type Service, startService } from '#scripts/services/service.ts'

const files = 256
const key = `csk_${randomBytes(32).toString('base64url')}`

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

/** Starts the server with a low limit of open files, as a container or a service may have. */
const startWithFewFiles = (): Promise<Service> =>
  startService({
    name: 'few-files',
    command: 'sh',
    env: (port, folder) => ({
      ...{ PATH: process.env.PATH, HOME: process.env.HOME },
      ...{ HOST: '127.0.0.1', PORT: String(port), DATA_DIR: folder, BOOTSTRAP_SECRET_KEY: key },
    }),
    args: () => {
      const start = resolve(import.meta.dirname, '../../../src/start.js')
      return ['-c', `ulimit -n ${files} && exec "$0" "$@"`, process.execPath, ...nodeOptions, start]
    },
    url: (port) => `http://127.0.0.1:${port}`,
    started: (port) => isReady(`http://127.0.0.1:${port}`),
  })

describe('a process with a low limit of open files', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const flood: Socket[] = []
  let server: Service

  beforeAll(async () => {
    server = await startWithFewFiles()
  }, 120_000)
  afterAll(async () => {
    for (const socket of flood) socket.destroy()
    agent.destroy()
    await server.stop()
  })

  /** Sends a chat over a connection that was opened before the flood. */
  const chat = async (): Promise<number | undefined> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = request(`${server.url}/v1/chat/completions`, { method: 'POST', agent, headers })
    sent.end(JSON.stringify({ model: 'simulated-1', messages: [{ role: 'user', content: 'Hi' }] }))
    const [answer] = await once(sent, 'response')
    await text(answer)
    return answer.statusCode
  }

  /** Opens a connection. @returns whether it got an answer; it stays open then. */
  const isServed = (): Promise<boolean> =>
    new Promise((done) => {
      const socket = connect(server.port, '127.0.0.1', () => socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'))
      flood.push(socket)
      socket.once('data', () => done(true))
      socket.once('error', () => done(false))
      socket.once('close', () => done(false))
    })

  it('survives more connections than that, serves those that it accepted, and recovers', async () => {
    expect(await chat()).toBe(200)
    const served = await Promise.all(Array.from({ length: files * 2 }, isServed))
    const count = served.filter(Boolean).length
    // the connections that polled for readiness and the caller's connection are open too
    expect(count).toBeGreaterThan(files / 2 - 8)
    expect(count).toBeLessThan(files / 2)
    expect(await chat()).toBe(200)
    expect(server.log()).toContain('connections refused')
    for (const socket of flood.splice(0)) socket.destroy()
    await expect.poll(() => isReady(server.url)).toBe(true)
  })
})
