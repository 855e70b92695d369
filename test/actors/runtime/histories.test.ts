import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { definitions } from '#actors/capabilities.ts'
import type { MachineDefinition } from '#machines/definition.ts'
import { definitionOf } from '#machines/definition-of.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { type Activated, activate } from '#runtime/activation.ts'
import { restoreBlobs } from '#runtime/blobs/blob-fields.ts'
import { commitOf, compacted } from '#runtime/commit/commit-document.ts'
import { SoleOwner } from '#runtime/recovery/sole-owner.ts'
import { readStoredState, revive, storedState } from '#runtime/step/actor-state.ts'
import { nextStep, type Step, startedStep } from '#runtime/step/step.ts'
import { type History, type RecordedStep, readHistories } from '#scripts/histories/history.ts'
import type { Commit, Storage, StoredEvent } from '#storage/ports.ts'
import { walkOf } from '#test/machines/action/action-samples.ts'
import { pathOf, restingStates } from '#test/machines/outcome.ts'
import { walk as runWalk } from '#test/machines/run/run-samples.ts'
import { walk } from '#test/machines/session/session-samples.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const histories = readHistories()
const versionOf = ({ name, version }: MachineDefinition): string => `${name}@${version}`
const current = histories.filter(({ machine }) => definitions.some((each) => versionOf(each) === machine))

/** A store as it was after the first `count` steps. */
const storeAfter = async ({ blobs, steps }: History, count: number): Promise<Storage> => {
  const storage = openMemoryStorage()
  const commits = steps.slice(0, count).map(({ commit }) => commit)
  const project = commits[0]?.project ?? ''
  for (const [hash, content] of Object.entries(blobs)) await storage.blobs.put(project, hash, content)
  await storage.commits.append(commits)
  return storage
}

const loaded = async (storage: Storage, { actor, epoch }: Commit, known = definitions): Promise<Activated> => {
  const clock = new VirtualClock()
  const ownership = new SoleOwner(epoch, clock)
  const found = await activate({ storage, definitions: known, clock, log: pino({ level: 'silent' }), ownership }, actor)
  if (found === null) throw new Error(`${actor} is not there`)
  return found
}

/** The step that a recorded event causes now. */
const stepOf = ({ resident }: Activated, { event, done, part, starts, commit }: RecordedStep): Step => {
  if (starts !== undefined) return { kind: 'next', draft: startedStep(resident.state, starts) }
  return nextStep(resident.definition, resident.state, {
    actor: resident.id,
    event,
    at: commit.at,
    ...(done !== undefined && { done }),
    ...(part !== undefined && { part }),
  })
}

/** The commit that the step causes now. */
const commitNow = async (storage: Storage, { resident }: Activated, step: Step, recorded: Commit): Promise<Commit> => {
  if (step.kind !== 'next') throw new Error(`${recorded.event.type} is ${step.kind}`)
  const facts = { ...recorded, owner: resident.owner }
  const commit = await compacted(commitOf(resident.definition, step.draft, facts), storage.blobs, resident.blobs)
  // histories from before commits had it are as valid as later ones
  const { moved, changed: _changed, ...rest } = commit
  return {
    ...rest,
    ...(recorded.changed !== undefined && { changed: recorded.changed }),
    ...(recorded.moved !== undefined && moved !== undefined && { moved }),
    nonce: recorded.nonce,
  }
}

/** Every step of a history, with the step after it. */
const pairs = ({ steps }: History) => steps.map((step, index) => ({ step, count: index + 1, next: steps[index + 1] }))

interface Resumed {
  readonly step: RecordedStep
  readonly next: RecordedStep | undefined
  readonly storage: Storage
  readonly found: Activated
}

/** The actor of a history as it is loaded after each step. */
const resumedIn = (history: History): Promise<readonly Resumed[]> =>
  Promise.all(
    pairs(history).map(async ({ step, count, next }) => {
      const storage = await storeAfter(history, count)
      return { step, next, storage, found: await loaded(storage, step.commit) }
    }),
  )

it('every machine has a recorded history of its current version', () => {
  const kept = new Set(histories.map(({ machine }) => machine))
  expect(definitions.map(versionOf).filter((version) => !kept.has(version))).toEqual([])
})

it.each(definitions.map((definition) => [versionOf(definition), definition] as const))(
  'the recorded histories of %s pass through every state in which it can rest',
  (version, { machine }) => {
    const commits = current.filter((each) => each.machine === version).flatMap(({ steps }) => steps)
    const seen = new Set(commits.map(({ commit }) => pathOf(readStoredState(commit).value)))
    expect(restingStates(machine).filter((state) => !seen.has(state))).toEqual([])
  },
)

describe.each(histories.map((history) => [`${history.machine} ${history.name}`, history] as const))(
  '%s',
  (_, history) => {
    /** The actor after each step: loaded once, and only read. */
    let resumed: readonly Resumed[] = []
    beforeAll(async () => {
      resumed = await resumedIn(history)
    })
    afterAll(() => {
      resumed = []
    })

    it('is restored from every commit with its state, reminders and effects', async () => {
      for (const { step, storage, found } of resumed) {
        const { state, parked } = found.resident
        expect(parked).toBeUndefined()
        const { reminders, in_flight: inFlight, last_sequence: lastSequence } = step.commit
        expect(state).toMatchObject({ reminders, inFlight, lastSequence })
        if (!current.includes(history)) continue
        const whole = await restoreBlobs(step.commit.snapshot ?? null, storage.blobs, step.commit.project)
        expect(whole).toMatchObject(JSON.parse(JSON.stringify(storedState(state.snapshot))))
      }
    })

    it('repeats each recorded step when resumed from any commit', async () => {
      for (const { storage, found, next } of resumed) {
        if (next === undefined) continue
        const now = await commitNow(storage, found, stepOf(found, next), next.commit)
        if (current.includes(history)) expect(JSON.parse(JSON.stringify(now))).toEqual(next.commit)
        else expect(now.events.map((event) => event.event_type)).toEqual(next.commit.events.map((e) => e.event_type))
      }
    })

    it('handles every event in every state, and can be restored afterwards', async () => {
      for (const { step, found } of resumed) {
        const { definition } = found.resident
        for (const event of eventsFor(definition, step.commit)) {
          const answer = stepOf(found, { event, commit: step.commit })
          const left = answer.kind === 'next' ? answer.draft.snapshot : found.resident.state.snapshot
          expect(revive(definition, storedState(left)).value).toEqual(left.value)
        }
      }
    })
  },
)

/** Every event that the machine declares, including those of the actor's own calls. */
const eventsFor = ({ name }: MachineDefinition, { snapshot }: Commit): readonly StoredEvent[] => {
  if (name === 'action') return walkOf('http').events
  const calls = /"action_id":"(act_\w+)"/g
  const ids = [...JSON.stringify(snapshot).matchAll(calls)].map(([, id = '']) => id)
  if (name === 'run') return runWalk.events
  const ofCalls = ['action_approved', 'action_rejected', 'action_executed', 'tool_answered']
  return [...walk.events, ...ids.flatMap((action_id) => ofCalls.map((type) => ({ type, action_id, output: '1' })))]
}

describe('a session that an older release left in any state', () => {
  /** As a later release might be: turns are counted under another name, and a field is new. */
  const later: MachineDefinition = {
    ...sessionDefinition,
    version: sessionDefinition.version + 1,
    migrations: {
      ...sessionDefinition.migrations,
      [sessionDefinition.version]: ({ value, context }) => ({ value, context: { ...context, region: 'eu' } }),
    },
  }
  const sessions = current.filter(({ machine }) => machine === versionOf(sessionDefinition))
  const known = [later, ...definitions.filter(({ name }) => name !== later.name)]

  it.each(sessions.map((history) => [history.name, history] as const))(
    'is migrated in a separate commit and continues (%s)',
    async (_, history) => {
      for (const { step, count, next } of pairs(history)) {
        const storage = await storeAfter(history, count)
        const found = await loaded(storage, step.commit, known)
        const head = await storage.commits.head(step.commit.actor)
        expect(head).toMatchObject({ seq: count + 1, machine: versionOf(later), events: [], effects: [] })
        const { reminders, in_flight, last_sequence, due } = step.commit
        expect(head).toMatchObject({ reminders, in_flight, last_sequence, due })
        expect(found.resident.state.snapshot.context).toMatchObject({ region: 'eu' })
        expect(found.resident.touchedAt).toBe(step.commit.at)
        if (next === undefined) continue
        const now = await commitNow(storage, found, stepOf(found, next), next.commit)
        expect(now.events).toEqual(next.commit.events)
        expect(now.snapshot).toMatchObject({ value: next.commit.snapshot?.value, context: { region: 'eu' } })
      }
    },
  )

  it('is migrated once, and is unchanged when loaded again', async () => {
    for (const history of sessions) {
      const last = history.steps.at(-1)
      if (last === undefined) continue
      const storage = await storeAfter(history, history.steps.length)
      const [first, again] = [await loaded(storage, last.commit, known), await loaded(storage, last.commit, known)]
      expect(again.resident.state.seq).toBe(first.resident.state.seq)
      expect(again.resident.state.snapshot.context).toEqual(first.resident.state.snapshot.context)
    }
  })
})

it('every recorded history belongs to a machine that is still defined', () => {
  const orphans = histories.filter(({ steps }) => definitionOf(definitions, steps[0]?.commit.actor ?? '') === undefined)
  expect(orphans.map(({ name }) => name)).toEqual([])
})
