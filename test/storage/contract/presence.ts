import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { LiveActor, Member, Presence } from '#storage/cluster-ports.ts'

/** Views of one directory by two processes. */
export interface PresenceSubject {
  readonly mine: Presence
  readonly theirs: Presence
  /** Advances the clock; omitted if time passes by itself. */
  readonly tick?: () => void
  readonly close: () => Promise<void>
}

const long = 60_000
const short = 300
const facts = { shards: 3, liveActors: 20, runningEffects: 1 }

/** Contract of `Presence` while the directory responds. Each test uses its own processes. */
export const presenceContract = (name: string, open: () => Promise<PresenceSubject>): void => {
  describe(`${name} presence`, () => {
    let opened: PresenceSubject | undefined
    let made = 0
    const subject = (): PresenceSubject => {
      if (!opened) throw new Error('the directory is not open')
      return opened
    }
    const member = (): Member => ({
      ...{ process: `process-${++made}`, node: `node-${made}`, address: '127.0.0.1:7000' },
      ...{ draining: false, startedAt: 1_700_000_000_000 },
    })
    const live = (self: Member, actor: string, project: string): LiveActor => ({
      ...{ actor, machine: 'session', project },
      ...{ node: self.node, process: self.process },
    })
    const until = (check: () => Promise<void>): Promise<void> =>
      vi.waitFor(
        async () => {
          subject().tick?.()
          await check()
        },
        { timeout: 60_000, interval: 20 },
      )
    /** Processes that are alive, as soon as that is known. */
    const alive = async (presence: Presence, self: Member): Promise<ReadonlySet<string>> => {
      let members: ReadonlySet<string> | null = null
      await until(async () => {
        members = await presence.alive(self)
        expect(members).not.toBeNull()
      })
      return members ?? new Set()
    }
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened?.close())

    it('shows every announced process to every other, with its latest facts', async () => {
      const { mine, theirs } = subject()
      const [self, other] = [member(), member()]
      await mine.announce(self, facts, long)
      await theirs.announce(other, facts, long)
      await mine.announce({ ...self, draining: true }, { ...facts, shards: 0 }, long)
      expect(await theirs.hosts()).toContainEqual({ ...self, ...facts, draining: true, shards: 0 })
      expect(await alive(mine, self)).toEqual(await alive(theirs, other))
      expect([...(await alive(mine, self))]).toEqual(expect.arrayContaining([self.process, other.process]))
    })

    it('forgets a process that stops announcing itself, and keeps the others', async () => {
      const { mine, theirs } = subject()
      const [self, other] = [member(), member()]
      await mine.announce(self, facts, long)
      // retried if the machine paused until the process was forgotten
      await until(async () => {
        await theirs.announce(other, facts, short)
        expect(await alive(mine, self)).toContain(other.process)
      })
      await until(async () => expect(await alive(mine, self)).not.toContain(other.process))
      expect(await alive(mine, self)).toContain(self.process)
      expect((await mine.hosts()).map(({ process }) => process)).not.toContain(other.process)
    })

    it('forgets a withdrawn process at once', async () => {
      const { mine, theirs } = subject()
      const [self, other] = [member(), member()]
      await mine.announce(self, facts, long)
      await theirs.announce(other, facts, long)
      await theirs.withdraw(other.process)
      expect(await alive(mine, self)).not.toContain(other.process)
    })

    it('does not know which processes are alive while it does not know the caller', async () => {
      const { mine } = subject()
      const self = member()
      expect(await mine.alive(self)).toBeNull()
    })

    it('lists the live actors of one project, without those that left', async () => {
      const { mine, theirs } = subject()
      const self = member()
      await mine.announce(self, facts, long)
      const [first, second, elsewhere] = ['ses_1', 'ses_2', 'ses_3'].map((id, n) => live(self, id, n < 2 ? 'p1' : 'p2'))
      if (!first || !second || !elsewhere) throw new Error('three actors')
      await mine.moved([first, second, elsewhere], [])
      expect(await theirs.actors('p1', 10)).toHaveLength(2)
      expect(await theirs.actors('p1', 10)).toEqual(expect.arrayContaining([first, second]))
      expect(await theirs.actors('p1', 1)).toHaveLength(1)
      expect(await theirs.actors('p2', 10)).toEqual([elsewhere])
      await mine.moved([], [first])
      expect(await theirs.actors('p1', 10)).toEqual([second])
    })

    it('moves a live actor to the process that reported it last', async () => {
      const { mine, theirs } = subject()
      const [self, other] = [member(), member()]
      await mine.announce(self, facts, long)
      await theirs.announce(other, facts, long)
      await mine.moved([live(self, 'ses_9', 'p9')], [])
      await theirs.moved([live(other, 'ses_9', 'p9')], [])
      expect(await mine.actors('p9', 10)).toEqual([live(other, 'ses_9', 'p9')])
    })

    it('lists no actors of a withdrawn process', async () => {
      const { mine, theirs } = subject()
      const [self, other] = [member(), member()]
      await mine.announce(self, facts, long)
      await theirs.announce(other, facts, long)
      await theirs.moved([live(other, 'ses_5', 'p5')], [])
      expect(await mine.actors('p5', 10)).toHaveLength(1)
      await theirs.withdraw(other.process)
      expect(await mine.actors('p5', 10)).toEqual([])
    })
  })
}
