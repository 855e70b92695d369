import { afterAll, beforeAll, expect, it } from 'vitest'
import { notesOf } from '../../../bench/clients/tabs/resume-faults.ts'
import { TabWorld } from '../../../bench/clients/tabs/tab-world.ts'
import { talkWithShortTokens } from '../../../bench/clients/tabs/tokens.ts'

let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(() => world.close())

it('three tabs of one session, over both transports, run a function of the page once a call', async () => {
  const session = await world.session()
  const { context, tabs } = await world.tabs([session, session, `${session},ws`])
  for (const [nth, tab] of tabs.entries()) {
    await tab.evaluate((at) => Object(globalThis).tab.send(`Please use get_city for call ${at}`), nth)
    await tab.waitForFunction(`tab.notes.sent.every(({ status }) => status !== 'open')`, null, { polling: 20 })
  }
  const notes = await Promise.all(tabs.map(notesOf))
  await context.close()
  expect(notes.flatMap(({ sent }) => sent.map(({ status }) => status))).toEqual(['settled', 'settled', 'settled'])
  const ran = notes.flatMap((each) => each.ran)
  expect(ran).toHaveLength(3)
  expect(new Set(ran).size).toBe(3)
})

it('three tabs with tokens of 5 s, over both transports, lose no message and fetch at most one token a life together', async () => {
  const { sent, failed, minted, lives, early } = await talkWithShortTokens(world, 13_000)
  console.info(`${sent} messages, ${minted} tokens in ${lives} lives`)
  expect(failed).toEqual([])
  expect(sent).toBeGreaterThan(15)
  expect(early).toBe(0)
  expect(minted).toBeGreaterThan(1)
  expect(minted).toBeLessThanOrEqual(lives)
})
