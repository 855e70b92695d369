import { describe, expect, it } from 'vitest'
import { BodyPace } from '#transport/http/body-pace.ts'
import { BodyTooSlow } from '#transport/http/http-port.ts'
import { head } from './raw-client.ts'
import { type Answer, later, noUpgrade, serving } from './serving.ts'

/** Contract of every HTTP adapter: minimum rates of bodies and answers, and who follows a body. */
export const paceSuite = (adapter: 'uws' | 'node'): void => {
  const { serve, client } = serving(adapter)

  const bodyOutcome =
    (maxBytes: number): Answer =>
    (request, response) => {
      request.body(maxBytes).then(
        (body) => response.send(200, [], String(body.length)),
        (error: unknown) => response.send(error instanceof BodyTooSlow ? 408 : 500, [], 'refused'),
      )
    }

  describe('rates', () => {
    it('refuses a body that is too slow or absent after its grace period, and closes its connection', async () => {
      const pace = new BodyPace({ graceMs: 200, bytesPerS: 1024, pollMs: 20 })
      const { port } = await serve(bodyOutcome(1 << 20), noUpgrade, pace)
      const slow = await client(port)
      slow.write(head('POST', '/', 'content-length: 100000'))
      const dripping = setInterval(() => slow.write('x'), 10)
      const silent = await client(port)
      silent.write(head('POST', '/', 'transfer-encoding: chunked'))
      const answers = await Promise.all([slow.closed, silent.closed])
      clearInterval(dripping)
      for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 408 .*refused$/s)
    })

    it('accepts a long body that keeps the required pace', async () => {
      const pace = new BodyPace({ graceMs: 50, bytesPerS: 1024, pollMs: 20 })
      const { port } = await serve(bodyOutcome(1 << 20), noUpgrade, pace)
      const steady = await client(port)
      steady.write(head('POST', '/', 'content-length: 1600'))
      let sent = 0
      const flowing = setInterval(() => {
        steady.write('x'.repeat(100))
        sent += 100
        if (sent === 1600) clearInterval(flowing)
      }, 25)
      expect(await steady.until('1600')).toMatch(/^HTTP\/1\.1 200 /)
    })

    it('requires a higher rate of a body that must hurry', async () => {
      const pace = new BodyPace({ graceMs: 60_000, bytesPerS: 1, hurried: { graceMs: 50, bytesPerS: 1e6 }, pollMs: 20 })
      const hurried: Answer = (request, response) =>
        void request.body(1 << 20, { isHurried: true }).then(
          () => response.send(200, [], ''),
          (error: Error) => response.send(408, [], error.name),
        )
      const { port } = await serve(hurried, noUpgrade, pace)
      const slow = await client(port)
      slow.write(`${head('POST', '/', 'content-length: 100000')}x`)
      expect(await slow.closed).toMatch(/^HTTP\/1\.1 408 .*BodyTooSlow$/s)
    })

    it('reports the bytes of a body as they arrive, and stops reading one that is refused meanwhile', async () => {
      const seen: number[] = []
      let refuse: (error: Error) => void = () => {}
      const listener = {
        arrived: (bytes: number) => void seen.push(bytes),
        onRefused: (given: typeof refuse) => {
          refuse = given
        },
      }
      const followed: Answer = (request, response) =>
        void request.body(1 << 20, { listener }).catch((error: Error) => response.send(503, [], error.message))
      const { port } = await serve(followed)
      const sender = await client(port)
      sender.write(`${head('POST', '/', 'content-length: 100000')}abc`)
      await expect.poll(() => seen.at(-1)).toBe(3)
      sender.write('def')
      await expect.poll(() => seen.at(-1)).toBe(6)
      refuse(new Error('no memory'))
      expect(await sender.until('no memory')).toMatch(/^HTTP\/1\.1 503 /)
    })

    it('cuts a reader that accepts a long answer below the minimum rate', async () => {
      const pace = new BodyPace({ graceMs: 200, bytesPerS: 1e9, pollMs: 20 })
      const over = later<void>()
      const answer: Answer = (_, response) => {
        response.onOver(() => over.resolve())
        response.send(200, [], Buffer.alloc(50_000_000))
      }
      const { port } = await serve(answer, noUpgrade, pace)
      const reader = await client(port)
      reader.socket.pause()
      reader.write(head('GET', '/', 'content-length: 0'))
      const startedMs = performance.now()
      await over.promise
      expect(performance.now() - startedMs).toBeLessThan(5_000)
    })
  })
}
