import { afterAll, beforeAll, expect, it } from 'vitest'
import { TabWorld } from '../../../bench/clients/tabs/tab-world.ts'
import { talkWithShortTokens } from '../../../bench/clients/tabs/tokens.ts'

let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(() => world.close())

it('three tabs with tokens of 5 s, over both transports, lose no message and fetch at most one token a life together', async () => {
  const { sent, failed, minted, lives, early } = await talkWithShortTokens(world, 13_000)
  console.info(`${sent} messages, ${minted} tokens in ${lives} lives`)
  expect(failed).toEqual([])
  expect(sent).toBeGreaterThan(15)
  expect(early).toBe(0)
  expect(minted).toBeGreaterThan(1)
  expect(minted).toBeLessThanOrEqual(lives)
})
