import { setTimeout as pause } from 'node:timers/promises'
import { isForBeingWhole } from '../../extent.ts'
import type { Row } from '../../row.ts'
import { notesOf } from './resume-faults.ts'
import type { TabWorld } from './tab-world.ts'

/** Life of a token in seconds, and the part of it after which a client renews it. */
const lifeS = 5
const renewedAfter = 0.8
/** Ends of the tabs' addresses: each has a session of its own, and one reads over a WebSocket. */
const hashes = ['', '', ',ws']

/** What three tabs did while their tokens were short-lived. */
export interface TokenFigures {
  readonly sent: number
  readonly failed: readonly string[]
  readonly minted: number
  /** Tokens that tabs which share one need in that time, each used until its renewal. */
  readonly lives: number
  /** Tokens that were minted while one had not been used for four fifths of its life. */
  readonly early: number
}

/** Lets three tabs of a user talk, each in a session of its own, with tokens that live 5 s. */
export const talkWithShortTokens = async (world: TabWorld, forMs: number): Promise<TokenFigures> => {
  world.lifeS = lifeS
  world.mintedAt.length = 0
  const group = await world.tabs(hashes)
  const until = Date.now() + forMs
  const talks = group.tabs.map(async (tab) => {
    for (let nth = 0; Date.now() < until; nth++) {
      await tab.evaluate((text) => Object(globalThis).tab.send(text), `reply exactly: answer ${nth}`)
      await tab.waitForFunction(`tab.notes.sent.every(({ status }) => status !== 'open')`, null, { polling: 20 })
      await pause(150)
    }
    return (await notesOf(tab)).sent
  })
  const sent = (await Promise.all(talks)).flat()
  await group.context.close()
  world.lifeS = 900
  const answered = (input: string) => input.slice('reply exactly: '.length)
  const failed = sent.filter(({ input, status, outcome }) => status !== 'settled' || outcome !== answered(input))
  const gaps = world.mintedAt.slice(1).map((at, nth) => at - (world.mintedAt[nth] ?? 0))
  return {
    sent: sent.length,
    failed: failed.map(({ outcome }) => outcome),
    minted: world.mintedAt.length,
    lives: Math.ceil(forMs / (renewedAfter * lifeS * 1000)) + 1,
    // the clock of the server is known to a second
    early: gaps.filter((ms) => ms < renewedAfter * lifeS * 1000 - 1000).length,
  }
}

/** Measures tabs whose tokens live 5 s: for ten minutes with `long`, else for one. */
export const tokenRows = async (world: TabWorld, long: boolean): Promise<readonly Row[]> => {
  const forMs = isForBeingWhole ? 2000 : long ? 600_000 : 60_000
  const { sent, failed, minted, lives, early } = await talkWithShortTokens(world, forMs)
  for (const each of failed) console.error(`a message with a short-lived token failed: ${each}`)
  const none = { of: 'ours', atMost: 0 } as const
  const against = { name: 'lives of a token up to its renewal', value: lives }
  return [
    { measure: `tokens of ${lifeS} s for ${forMs / 1000} s, 3 tabs: messages`, unit: '', ours: sent },
    { measure: 'the same: failed', unit: '', ours: failed.length, bound: none },
    {
      measure: 'the same: tokens minted for all tabs',
      unit: '',
      ours: minted,
      against,
      bound: { of: 'ratio', atMost: 1 },
    },
    { measure: 'the same: minted before they were due', unit: '', ours: early, bound: none },
  ]
}
