import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { zipOf } from '#test/support/archives.ts'
import { LoopProbe, limitOf } from '../loop-probe.ts'
import { World } from '../world.ts'

const probe = new LoopProbe()
let world: World
beforeAll(async () => {
  world = await World.start({ env: probe.env })
})
afterAll(async () => {
  await world.stop()
  probe.close()
})

const skill = { path: 'SKILL.md', content: '---\nname: large\ndescription: Is large.\n---\n# Large\n' }
const noise = randomBytes(18_000).toString('base64')

it('a skill archive that unpacks to the maximum size blocks no other request', async () => {
  const files = Array.from({ length: 199 }, (_, n) => ({ path: `notes/${n}.md`, content: `${n} ${noise}`.repeat(4) }))
  const archive = zipOf([skill, ...files])
  expect(archive.length).toBeLessThan(5_000_000)
  const body = JSON.stringify({ archive: archive.toString('base64') })
  const seen = await probe.heldMs(world, async () => {
    const answer = await world.api.post('/v1/skill-imports', body)
    expect(answer.status, JSON.stringify(answer.body).slice(0, 300)).toBeLessThan(300)
  })
  expect(Math.min(...seen), JSON.stringify(seen)).toBeLessThan(limitOf(seen))
})

it('a zip bomb is refused and blocks no other request', async () => {
  const bomb = zipOf([skill, ...[1, 2, 3].map((n) => ({ path: `${n}.bin`, content: Buffer.alloc(19 << 20) }))])
  const body = JSON.stringify({ archive: bomb.toString('base64') })
  const seen = await probe.heldMs(world, async () => {
    const answer = await world.api.post('/v1/skill-imports', body)
    expect([answer.status, answer.body.error?.param]).toEqual([422, 'archive'])
  })
  expect(Math.min(...seen), JSON.stringify(seen)).toBeLessThan(limitOf(seen))
})
