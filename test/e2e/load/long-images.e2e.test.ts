import { afterAll, beforeAll, expect, it } from 'vitest'
import { png } from '#test/gateway/simulated/image-bytes.ts'
import { LoopProbe, limitOf } from '../loop-probe.ts'
import { World } from '../world.ts'

const probe = new LoopProbe()
let world: World
beforeAll(async () => {
  world = await World.start({ env: { ...probe.env, MAX_CHAT_BODY_MB: '32' } })
}, 120_000)
afterAll(async () => {
  await world.stop()
  probe.close()
})

const image = Buffer.concat([png(640, 480), Buffer.alloc(15 * 1024 * 1024, 'x')]).toString('base64')

it('a turn with a body of 20 MB holds the loop for less than 50 ms', async () => {
  const input = [{ type: 'input_image', image_url: `data:image/png;base64,${image}` }]
  const held = await probe.heldMs(world, async () => {
    const turn = await world.api.turn(await world.api.createSession(), { input })
    expect((await turn.all()).at(-1)).toMatchObject({ event: 'turn.completed' })
  })
  expect(Math.min(...held)).toBeLessThan(limitOf(held))
}, 240_000)
