import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { initialTransition, transition } from 'xstate'
import { definitions } from '../src/actors/capabilities.ts'
import { activate } from '../src/actors/runtime/activation.ts'
import { systemClock } from '../src/actors/runtime/clock.ts'
import type { EffectCatalog } from '../src/actors/runtime/effects/effects.ts'
import { erasedActors } from '../src/actors/runtime/erasure/erased-actors.ts'
import type { Host } from '../src/actors/runtime/host.ts'
import { newId } from '../src/actors/runtime/ids.ts'
import { LocalHost } from '../src/actors/runtime/local-host.ts'
import { Janitor } from '../src/actors/runtime/log/janitor.ts'
import { SoleOwner } from '../src/actors/runtime/recovery/sole-owner.ts'
import type { ActorState } from '../src/actors/runtime/step/actor-state.ts'
import { firstStep, nextStep, type Step } from '../src/actors/runtime/step/step.ts'
import { noUsage, type SessionEvent } from '../src/machines/session/session-data.ts'
import { sessionDefinition } from '../src/machines/session/session-definition.ts'
import type { RecordKind, Storage } from '../src/storage/ports.ts'
import { openSqliteStorage } from '../src/storage/sqlite/open-sqlite-storage.ts'
import { sized } from './extent.ts'
import { median, type Row } from './row.ts'

const actors = sized(20_000, 200)
const restores = sized(5_000, 50)
const rounds = sized(5, 1)
const stepsPerRound = sized(20_000, 200)
const inputOf = (id: string) => ({ session_id: id, agent_id: null, metadata: {} })
const output = Array.from({ length: 20 }, (_, at) => `token-${at} `).join('')

/** Events of one turn, as the host delivers them to a session. */
const turn: SessionEvent = { type: 'turn', input: 'hello', tool_results: [], model: 'm', config: {}, tools: {} }
const answer: SessionEvent = { type: 'model_answered', delta: output, calls: [], usage: noUsage }

const sessions: RecordKind = { name: 'sessions', filters: ['status'] }
const effects: EffectCatalog = {
  'session.callModel': {
    policy: 'stream',
    run: async () => ({ event: answer }),
    unknown: () => answer,
    tooLarge: () => answer,
  },
}

/**
 * Measures the cost of the runtime itself: a step, a restore from the store, and an idle live actor. SQLite, one
 * process.
 */
export async function benchRuntime(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
  const storage = await openSqliteStorage({ path: join(folder, 'bench.sqlite') })
  try {
    await storage.records.prepare([sessions, erasedActors])
    return [stepRow(), ...(await actorRows(storage))]
  } finally {
    await storage.close()
    rmSync(folder, { recursive: true })
  }
}

/** Compares a complete step (machine, events, effects, after-image) with XState's bare transition, in µs. */
function stepRow(): Row {
  const bare = initialTransition(sessionDefinition.machine, inputOf('ses_1'))[0]
  const idle = draftOf(firstStep(sessionDefinition, inputOf('ses_1'), { actor: 'ses_1', event: turn, at: 1 }))
  const timeOf = (work: () => unknown) => median(Array.from({ length: rounds }, () => microsecondsEach(work)))
  const step = () => {
    const working = draftOf(nextStep(sessionDefinition, idle, { actor: 'ses_1', event: turn, at: 1 }))
    return nextStep(sessionDefinition, working, { actor: 'ses_1', event: answer, at: 2, done: 'ses_1:2:0' })
  }
  const bareStep = () =>
    transition(sessionDefinition.machine, transition(sessionDefinition.machine, bare, turn)[0], answer)
  return {
    measure: 'one step of a session',
    unit: 'µs',
    ours: timeOf(step) / 2,
    against: { name: 'XState transition', value: timeOf(bareStep) / 2 },
  }
}

function microsecondsEach(work: () => unknown): number {
  const startedAt = performance.now()
  for (let n = 0; n < stepsPerRound; n++) work()
  return ((performance.now() - startedAt) * 1000) / stepsPerRound
}

async function actorRows(storage: Storage): Promise<readonly Row[]> {
  const before = usedBytes()
  let ahead = 0
  const clock = { ...systemClock, now: () => Date.now() + ahead }
  const log = pino({ level: 'silent' })
  const host = new LocalHost({
    storage,
    definitions: [{ ...sessionDefinition, effects: { callModel: 'stream' } }],
    effects: () => effects,
    rows: { session: sessions },
    clock,
    log,
    ownership: new SoleOwner(1, clock),
  })
  const ids = Array.from({ length: actors }, () => newId('ses'))
  await Promise.all(ids.map((id) => runTurn(host, id)))
  await host.effects.drain(60_000)
  // Two passes: the first closes what the turns left open; after it the actors are idle.
  const janitor = new Janitor(host, clock, { max: Number.POSITIVE_INFINITY, idleMs: Number.POSITIVE_INFINITY })
  for (const waitMs of [5_000, 10_000]) {
    ahead = waitMs
    janitor.round()
    await host.settler.flush()
  }
  const bytes = (usedBytes() - before) / host.live
  const startedAt = performance.now()
  for (const id of ids.slice(0, restores))
    await activate({ storage, definitions, clock, log, ownership: host.ownership }, id)
  const restoreMs = (performance.now() - startedAt) / restores
  return [
    { measure: 'idle live session after a turn', unit: 'bytes', ours: bytes, bound: { of: 'ours', atMost: 8192 } },
    { measure: 'restore of a session (SQLite)', unit: 'ms', ours: restoreMs },
  ]
}

async function runTurn(host: Host, id: string): Promise<void> {
  const owner = { project: 'bench', tenant: null, user: null, createdAt: Date.now() }
  await host.create({ kind: sessionDefinition, id, owner, input: inputOf(id), cause: `create:${id}` })
  await host.deliver(id, { event: turn, cause: `turn:${id}` })
}

function draftOf(step: Step): ActorState {
  if (step.kind !== 'next') throw new Error(`the machine ${step.kind} the event`)
  return step.draft
}

/** Bytes alive on the heap after a full collection. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  return process.memoryUsage().heapUsed
}
