import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright'
import { sized } from '../../extent.ts'
import { median, type Row } from '../../row.ts'
import { faultsOf, notesOf, type ResumeFaults } from './resume-faults.ts'
import type { TabGroup, TabWorld } from './tab-world.ts'

const kills = sized(50, 5)
const awayMs = sized(60_000, 500)
/** Time in ms that a turn has to end after its server is back. */
const patienceMs = 60_000

/** One kind of turn: what is sent, and what the kill waits for. */
interface Disturbed {
  readonly input: (nth: number) => string
  readonly begun: (world: TabWorld, group: TabGroup, sender: Page) => Promise<unknown>
}

const inTab = (tab: Page, holds: (state: ReturnType<typeof Object>) => boolean): Promise<unknown> =>
  tab.waitForFunction(`(${holds})(tab.state())`, null, { polling: 10, timeout: patienceMs })

const disturbed: readonly Disturbed[] = [
  // on its way, or not yet
  { input: (nth) => `reply exactly: answer ${nth}`, begun: async () => {} },
  {
    input: (nth) => `slow please, answer ${nth}`,
    begun: (_, __, sender) =>
      inTab(sender, ({ messages }) => messages.at(-1)?.parts.length > 0 && messages.at(-1)?.role === 'assistant'),
  },
  {
    // while the tool runs, whose answer is then lost
    input: (nth) => `Please use issue_refund for order ${nth}`,
    begun: (world) => {
      world.tool.hold()
      return world.tool.called(world.tool.calls.length + 1)
    },
  },
  {
    // all tabs approve the same call
    input: (nth) => `Please use gated_refund for order ${nth}`,
    begun: async (_, { tabs }) => {
      await Promise.all(tabs.map((tab) => inTab(tab, ({ approvals }) => approvals.length > 0)))
      await Promise.all(tabs.map((tab) => tab.evaluate(() => Object(globalThis).tab.approveAll())))
    },
  },
  {
    // all tabs have the function
    input: (nth) => `Please use get_city, ${nth}`,
    begun: (_, __, sender) => inTab(sender, ({ approvals }) => approvals.length > 0),
  },
]

/** Sends a message from one of the tabs, and waits until its turn is in the state in which it is disturbed. */
const sendFrom = async (world: TabWorld, group: TabGroup, nth: number): Promise<void> => {
  const sender = group.tabs[nth % group.tabs.length]
  const { input, begun } = disturbed[nth % disturbed.length] ?? {}
  if (sender === undefined || input === undefined || begun === undefined) throw new Error('no tab')
  const waiting = begun(world, group, sender)
  await sender.evaluate((text) => Object(globalThis).tab.send(text), input(nth))
  await waiting
}

/** Time in ms from the server's first answer until a tab is live, of each tab. */
const lateOf = async ({ tabs }: TabGroup, brokenAt: number, answersAt: number): Promise<readonly number[]> =>
  Promise.all(
    tabs.map(async (tab) => {
      const back = `tab.notes.connections.some(({ status, at }) => status === 'live' && at >= ${brokenAt})`
      await tab.waitForFunction(back, null, { polling: 10, timeout: patienceMs })
      const { connections } = await notesOf(tab)
      const live = connections.find(({ status, at }) => status === 'live' && at >= brokenAt)
      return Math.max((live?.at ?? Number.NaN) - answersAt, 0)
    }),
  )

/** Resolves when every message has an outcome, and every tab shows the session at rest. */
const settled = ({ tabs }: TabGroup): Promise<unknown> =>
  Promise.all(
    tabs.map(async (tab) => {
      const sent = `tab.notes.sent.every(({ status }) => status !== 'open') && tab.state().run.status === 'idle'`
      await tab.waitForFunction(sent, null, { polling: 10, timeout: patienceMs })
    }),
  )

/** Kills the server in the middle of turns of every kind, at moments that differ. */
const killed = async (world: TabWorld, group: TabGroup): Promise<readonly number[]> => {
  const late: number[] = []
  for (let nth = 0; nth < kills; nth++) {
    await sendFrom(world, group, nth)
    await pause((nth * 37) % 120)
    await world.crash()
    const brokenAt = Date.now()
    const answersAt = await world.restart()
    world.tool.answer()
    late.push(...(await lateOf(group, brokenAt, answersAt)))
    await settled(group)
  }
  return late
}

/** Takes the network away from all tabs while one of them sends. */
const offline = async (world: TabWorld, group: TabGroup): Promise<readonly number[]> => {
  await group.context.setOffline(true)
  world.proxy.offline = true
  const brokenAt = Date.now()
  await group.tabs[0]?.evaluate(() => Object(globalThis).tab.send('reply exactly: from offline'))
  await pause(awayMs)
  world.proxy.offline = false
  await group.context.setOffline(false)
  const late = await lateOf(group, brokenAt, Date.now())
  await settled(group)
  return late
}

/** Keeps the server down while a tab sends; no event shows the tabs that it is back. */
const down = async (world: TabWorld, group: TabGroup): Promise<readonly number[]> => {
  await world.crash()
  const brokenAt = Date.now()
  await group.tabs[1]?.evaluate(() => Object(globalThis).tab.send('reply exactly: from an outage'))
  await pause(awayMs)
  const late = await lateOf(group, brokenAt, await world.restart())
  await settled(group)
  return late
}

/** Measures what three tabs of one session lose, repeat and wait for, of which one reads over a WebSocket. */
export const resumeRows = async (world: TabWorld): Promise<readonly Row[]> => {
  const session = await world.session()
  const group = await world.tabs([session, session, `${session},ws`])
  await Promise.all(group.tabs.map((tab) => inTab(tab, ({ connection }) => connection === 'live')))
  const late = {
    kills: await killed(world, group),
    offline: await offline(world, group),
    down: await down(world, group),
  }
  const faults = await faultsOf(world, session, group.tabs)
  await group.context.close()
  const away = `${awayMs / 1000} s`
  return [
    ...faultRows(`${kills} kills, offline and down for ${away}, 3 tabs`, faults),
    backRow(`${kills} kills`, late.kills),
    { measure: 'the same, median', unit: 'ms', ours: median(late.kills) },
    backRow(`offline for ${away}`, late.offline),
    backRow(`server down for ${away}`, late.down),
  ]
}

const none = { of: 'ours', atMost: 0 } as const

const faultRows = (what: string, { gaps, doubles, lostSends, repeatedCalls }: ResumeFaults): readonly Row[] => [
  { measure: `${what}: events lost`, unit: '', ours: gaps, bound: none },
  { measure: 'the same: events or messages doubled', unit: '', ours: doubles, bound: none },
  { measure: 'the same: messages or decisions lost', unit: '', ours: lostSends, bound: none },
  { measure: 'the same: calls of tools run twice', unit: '', ours: repeatedCalls, bound: none },
]

const backRow = (what: string, late: readonly number[]): Row => ({
  measure: `${what}: back after the server answers, latest tab`,
  unit: 'ms',
  ours: Math.max(...late),
  bound: { of: 'ours', atMost: 500 },
})
