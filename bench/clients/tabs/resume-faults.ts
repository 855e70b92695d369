import type { Page } from 'playwright'
import { api } from '#client/api/index.ts'
import { type Message, textOf } from '#client/index.ts'
import type { TabNotes } from './tab-page.ts'
import type { TabWorld } from './tab-world.ts'

/** What must not happen to tabs, counted. */
export interface ResumeFaults {
  /** Events of the log that a tab never took. */
  readonly gaps: number
  /** Events that a tab took twice, and messages that it shows otherwise than the server has them. */
  readonly doubles: number
  /** Messages that are not once in the log, or whose promise did not settle with their answer; decisions that were refused. */
  readonly lostSends: number
  /** Calls of tools and of functions of the page beyond the first of each. */
  readonly repeatedCalls: number
}

/** Judges the notes of tabs, which have shown the session since it was created, by the log of the server. */
export const faultsOf = async (world: TabWorld, session: string, tabs: readonly Page[]): Promise<ResumeFaults> => {
  const { sessions } = api(world.operator)
  const log: { readonly sequence: number; readonly name: string; readonly input: unknown }[] = []
  for await (const { sequence, event_type, payload } of sessions.events(session, { limit: 100 }))
    log.push({ sequence, name: event_type, input: Object(payload).input_text })
  const notes = await Promise.all(tabs.map(notesOf))
  const kept = shownOf(await messagesOf(world, session))
  const shown = await Promise.all(tabs.map(async (tab) => shownOf((await stateOf(tab)).messages)))
  const started = log.filter(({ name }) => name === 'turn.started').map(({ input }) => input)
  const sent = notes.flatMap((each) => each.sent)
  const isKept = ({ input, status }: (typeof sent)[number]) =>
    status === 'settled' && started.filter((each) => each === input).length === 1
  return {
    gaps: sum(notes, ({ applied }) => log.filter(({ sequence }) => !applied.some(([at]) => at === sequence)).length),
    doubles:
      sum(notes, ({ applied }) => repeated(applied.map(([at]) => at))) + sum(shown, (each) => Number(each !== kept)),
    lostSends: sent.filter((each) => !isKept(each)).length + sum(notes, ({ undecided }) => undecided.length),
    repeatedCalls:
      repeated(world.tool.calls.map(({ body }) => body.action_id)) + repeated(notes.flatMap(({ ran }) => ran)),
  }
}

export const notesOf = (tab: Page): Promise<TabNotes> => tab.evaluate(() => Object(globalThis).tab.notes)

const stateOf = (tab: Page): Promise<{ readonly messages: readonly Message[] }> =>
  tab.evaluate(() => Object(globalThis).tab.state())

/** All messages of a session, oldest first. */
const messagesOf = async (world: TabWorld, session: string): Promise<readonly Message[]> => {
  const { sessions } = api(world.operator)
  const all: Message[] = []
  for (let before: number | undefined; ; ) {
    const { data } = await sessions.messages(session, { limit: 50, ...(before !== undefined && { before }) })
    all.unshift(...Object(data))
    const [{ turn_number = 1 } = {}] = data
    if (data.length === 0 || Number(turn_number) <= 1) return all
    before = Number(turn_number)
  }
}

/** What a reader sees of messages; ids of sent ones are the tab's own. */
const shownOf = (messages: readonly Message[]): string =>
  JSON.stringify(messages.map(({ role, status, parts }) => [role, status, textOf({ parts }), parts.length]))

const repeated = (values: readonly unknown[]): number => values.length - new Set(values).size

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0)
