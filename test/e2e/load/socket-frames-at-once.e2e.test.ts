import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '../world.ts'

const sockets = 10
const frames = 32
const frame = JSON.stringify({ type: 'turn', input: 'x'.repeat(1_000_000) })

const nodeOptions = '--max-old-space-size=256'

describe('many concurrent long WebSocket frames', () => {
  let world: World
  const open: WebSocket[] = []

  beforeAll(async () => {
    world = await World.start({ env: { NODE_OPTIONS: nodeOptions } })
  }, 120_000)
  afterAll(async () => {
    for (const socket of open) socket.close()
    await world.stop()
  })

  /** Sends frames over a socket of a new session. @returns the number of received frames by event or error code. */
  const sent = async (): Promise<ReadonlyMap<string, number>> => {
    const session = await world.api.createSession()
    const headers = { authorization: `Bearer ${world.secretKey}` }
    const socket = new WebSocket(`${world.url.replace('http', 'ws')}/v1/sessions/${session}/ws`, { headers })
    open.push(socket)
    await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
    const seen = new Map<string, number>()
    return new Promise((resolve, reject) => {
      let answered = 0
      socket.onclose = () => reject(new Error('the socket was closed'))
      socket.onmessage = ({ data }) => {
        const { event, data: content } = JSON.parse(data)
        const name = event === 'error' ? content.error.code : event
        seen.set(name, (seen.get(name) ?? 0) + 1)
        if (name === 'turn.started' || event === 'error') answered++
        if (answered === frames) resolve(seen)
      }
      for (let at = 0; at < frames; at++) socket.send(frame)
    })
  }

  it('are run or refused with a known code, and the process stays ready and releases their memory', async () => {
    const seen = await Promise.all(Array.from({ length: sockets }, sent))
    const codes = new Set(seen.flatMap((counts) => [...counts.keys()]))
    expect(codes).toContain('turn.started')
    const refusals = [...codes].filter((code) => !code.includes('.'))
    expect(['overloaded', 'rate_limit_exceeded', 'turn_in_progress']).toEqual(expect.arrayContaining(refusals))
    expect((await world.api.get('/readyz')).status).toBe(200)
    const { body } = await world.api.get('/metrics')
    expect(Number(/^troupe_body_bytes (\S+)$/m.exec(String(body))?.[1])).toBe(0)
  })
})
