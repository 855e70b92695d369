import { describe, expect, it } from 'vitest'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { LiveDirectory } from '#runtime/cluster/directory.ts'
import { type LiveActor, liveActorMs, type Member } from '#storage/cluster-ports.ts'
import { MemoryPresence } from '#test/support/memory/presence.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const self: Member = { process: 'a.1', node: 'a', address: '127.0.0.1:1', draining: false, startedAt: 1 }
const facts = { shards: 1, liveActors: 1, runningEffects: 0 }
const long = 100 * liveActorMs

const open = async () => {
  const clock = new VirtualClock()
  const presence = new MemoryPresence(clock.now)
  await presence.announce(self, facts, long)
  const live = new Map<string, string>()
  const batches: { came: number; left: number }[] = []
  const directory = new LiveDirectory({
    residents: () =>
      [...live].map(([id, project]) => ({
        id,
        definition: sessionDefinition,
        owner: { project, tenant: null, user: null, createdAt: 1 },
      })),
    self: () => self,
    presence: {
      moved: (came, left) => {
        batches.push({ came: came.length, left: left.length })
        return presence.moved(came, left)
      },
    },
    clock,
  })
  const known = async (project = 'p'): Promise<string[]> =>
    (await presence.actors(project, 10_000)).map(({ actor }: LiveActor) => actor).sort()
  return { clock, presence, live, batches, directory, known }
}

describe('the directory of live actors', () => {
  it('receives within a second which actors were loaded and unloaded', async () => {
    const { clock, live, directory, known } = await open()
    directory.start()
    live.set('ses_1', 'p').set('ses_2', 'p').set('ses_3', 'q')
    await clock.advance(1_000)
    expect(await known()).toEqual(['ses_1', 'ses_2'])
    expect(await known('q')).toEqual(['ses_3'])
    live.delete('ses_1')
    live.set('ses_4', 'p')
    await clock.advance(1_000)
    expect(await known()).toEqual(['ses_2', 'ses_4'])
    directory.stop()
    live.clear()
    await clock.advance(5_000)
    expect(await known()).toEqual(['ses_2', 'ses_4'])
  })

  it('receives nothing about an actor that was loaded and unloaded between two updates', async () => {
    const { clock, live, batches, directory, known } = await open()
    directory.start()
    await clock.advance(500)
    live.set('ses_1', 'p')
    live.delete('ses_1')
    await clock.advance(3_000)
    expect(await known()).toEqual([])
    expect(batches.reduce((sum, { came, left }) => sum + came + left, 0)).toBe(0)
  })

  it('receives many changes in batches of at most 200, and in the end all of them', async () => {
    const { clock, live, batches, directory, known } = await open()
    for (let n = 0; n < 950; n++) live.set(`ses_${n}`, 'p')
    directory.start()
    await clock.advance(6_000)
    expect(await known()).toHaveLength(950)
    live.clear()
    await clock.advance(6_000)
    expect(await known()).toEqual([])
    expect(Math.max(...batches.map(({ came, left }) => Math.max(came, left)))).toBeLessThanOrEqual(200)
  })

  it('keeps an actor that stays, and receives all actors again after it was lost', async () => {
    const { clock, presence, live, directory, known } = await open()
    live.set('ses_1', 'p')
    directory.start()
    for (let minute = 0; minute < 40; minute++) {
      await clock.advance(60_000)
      expect(await known()).toEqual(['ses_1'])
    }
    presence.up = false
    presence.up = true
    await presence.announce(self, facts, long)
    expect(await known()).toEqual([])
    directory.forget()
    await clock.advance(1_000)
    expect(await known()).toEqual(['ses_1'])
    directory.stop()
  })
})
