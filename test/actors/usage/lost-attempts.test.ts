import { describe, expect, it } from 'vitest'
import { type UsageData, usageRows } from '#gateway/ledger/usage-rows.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { newSession, openWorld, turn, typesOf } from '../sessions/harness.ts'

const never = new Promise<void>(() => {})

/**
 * A session of which so many processes died one after the other, each `durableMs` after its model had said some text;
 * then a process that lives.
 */
const cutTurn = async (crashes: number, durableMs: number) => {
  const storage = openMemoryStorage()
  const clock = new VirtualClock()
  const dying = () => openWorld({ storage, clock, scripts: [{ text: ['A part', never] }] })
  const first = await dying()
  const session = await newSession(first)
  void turn(first, session, { input: 'go' })
  await clock.advance(durableMs)
  for (let crash = 1; crash < crashes; crash++) {
    await dying()
    await clock.advance(durableMs)
  }
  await openWorld({ storage, clock, scripts: [{ text: ['All of it.'] }] })
  await clock.advance(5000)
  const log = await storage.commits.events(session, 0, 10_000)
  const usage = await storage.records.list(usageRows, projectScope('prj_a'), { limit: 10, ascending: true })
  const rows = usage.map(({ data }): Partial<UsageData> => data)
  // both may be of one millisecond
  return { session, types: typesOf(log), usage: rows.toSorted((one, other) => isLost(other) - isLost(one)) }
}

const isLost = ({ interrupted }: Partial<UsageData>): number => (interrupted === true ? 1 : 0)

describe('a model call that a crash cut', () => {
  it('is a usage row of its own, estimated from the text that was durable', async () => {
    const { session, types, usage } = await cutTurn(1, 2000)
    expect(types.slice(-3)).toEqual(['turn.restarted', 'output_text.delta', 'turn.completed'])
    expect(usage).toMatchObject([
      { operation: 'session.turn', session_id: session, output_tokens: 6, estimated: true, interrupted: true },
      { operation: 'session.turn', session_id: session, output_tokens: 5, estimated: false },
    ])
    expect(usage[1]).not.toHaveProperty('interrupted')
  })

  it('has no usage row when none of its text was durable', async () => {
    const { types, usage } = await cutTurn(1, 10)
    expect(types.at(-1)).toBe('turn.completed')
    expect(usage).toMatchObject([{ output_tokens: 5 }])
  })

  it('has its usage row for each attempt, also when its turn fails in the end', async () => {
    const { types, usage } = await cutTurn(4, 2000)
    expect(types.at(-1)).toBe('turn.failed')
    expect(usage.map(({ output_tokens, interrupted }) => [output_tokens, interrupted])).toEqual(
      Array.from({ length: 4 }, () => [6, true]),
    )
  })
})
