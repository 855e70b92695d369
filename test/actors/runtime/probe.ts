import { pino } from 'pino'
import type { MachineDefinition } from '#machines/definition.ts'
import type { EffectCatalog, EffectContext, EffectOutcome } from '#runtime/effects/effects.ts'
import type { HostOptions } from '#runtime/host-options.ts'
import type { Ledger } from '#runtime/log/ledger.ts'
import type { EventStream, StreamControl, StreamEnding } from '#runtime/messages/event-stream.ts'
import type { Delivered, Delivery, Resident } from '#runtime/resident.ts'
import { epochs, startRuntime, stuckRows } from '#runtime/runtime.ts'
import type { Owner } from '#runtime/step/actor-state.ts'
import type { JsonObject, LogEvent, RecordKind, Storage, StoredEvent } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { probeDefinition } from './probe-machine.ts'

/** Runs an effect of the probe. */
export type Run = (params: JsonObject, context: EffectContext) => Promise<EffectOutcome>

/** Effects that a test provides. */
export interface ProbeEffects {
  readonly work?: Run
  readonly speak?: Run
  /** Whether `speak` begins again after a crash, or when it decides to. */
  readonly speaksAgain?: boolean | Promise<void>
  readonly tidy?: Run
}

/** Options of a probe. */
export interface ProbeOptions extends ProbeEffects {
  readonly storage?: Storage
  readonly clock?: VirtualClock
  readonly definition?: MachineDefinition
  readonly ledger?: Ledger
  /** Returns when requests are served, without waiting for the recovery of open work. */
  readonly atOnce?: boolean
  /** Resolves when requests are served; absent: they are served at once. */
  readonly serving?: Promise<void>
  readonly streamEnded?: HostOptions['streamEnded']
  readonly maxBehind?: number
}

/** List rows of probes. */
export const probeRows: RecordKind = { name: 'probes' }

/** Who owns the probes. */
export const owner: Owner = { project: 'prj_1', tenant: 'ten_1', user: 'usr_1', createdAt: 1 }

/** The event for an effect that may have happened. */
const unknownEvent: StoredEvent = { type: 'worked', output: 'unknown' }

/** The event for a result that is larger than a commit. */
const tooLargeEvent: StoredEvent = { type: 'worked', output: 'too large' }

/** An effect that never ends by itself. */
export const forever: Run = (_params, { signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

/** The effects of the probe: those of the test, and effects that never end for the others. */
export const probeEffects = ({
  work = forever,
  speak = forever,
  tidy = forever,
  speaksAgain = false,
}: ProbeEffects): EffectCatalog => ({
  'probe.work': { policy: 'from_params', run: work, unknown: () => unknownEvent, tooLarge: () => tooLargeEvent },
  'probe.speak': {
    ...{ policy: 'stream', run: speak, unknown: () => unknownEvent, tooLarge: () => tooLargeEvent },
    ...(speaksAgain !== false && {
      restarted: async ({ from }) => {
        await speaksAgain
        const type = 'speech_restarted'
        return { again: true, event: { type, from }, stored: { type } }
      },
    }),
  },
  'probe.tidy': { policy: 'idempotent', run: tidy },
})

/** The real runtime with the probe machine, a store in memory and a virtual clock. */
export const openProbe = async (options: ProbeOptions = {}) => {
  const { storage = openMemoryStorage(), clock = new VirtualClock(), definition = probeDefinition } = options
  await storage.records.prepare([epochs, probeRows, stuckRows])
  const runtime = await startRuntime({
    storage,
    definitions: [definition],
    rows: { probe: probeRows },
    clock,
    log: pino({ level: 'silent' }),
    ...(options.ledger !== undefined && { ledger: options.ledger }),
    ...(options.serving !== undefined && { serving: options.serving }),
    ...(options.streamEnded !== undefined && { streamEnded: options.streamEnded }),
    ...(options.maxBehind !== undefined && { maxBehind: options.maxBehind }),
    effects: () => probeEffects(options),
  })
  const { host } = runtime
  if (options.atOnce !== true) await host.recovery.over()
  let causes = 0
  const causeOf = (id: string) => `${id}/${host.epoch}/${++causes}`
  return {
    runtime,
    host,
    storage,
    clock,
    create: (id: string, cause = causeOf(id)): Promise<Delivered> =>
      host.create({ kind: definition, id, owner, input: {}, cause }),
    deliver: (id: string, event: StoredEvent, more: Partial<Delivery> = {}): Promise<Delivered> =>
      host.deliver(id, { event, cause: causeOf(id), ...more }),
    find: (id: string): Promise<Resident> => host.find(projectScope(owner.project), definition, id),
  }
}

export type Probe = Awaited<ReturnType<typeof openProbe>>

/** Every event of an actor's log, as the store has it. */
export const logOf = (storage: Storage, id: string): Promise<readonly LogEvent[]> =>
  storage.commits.events(id, 0, 10_000)

/** `event_type`s in order. */
export const typesOf = (events: readonly LogEvent[]): readonly string[] => events.map((event) => event.event_type)

/** The reader of a stream: what it has received, and how the stream ended. */
export interface Reader {
  readonly events: LogEvent[]
  ended: StreamEnding | undefined
  /** Takes this many more events before it requests a pause. */
  capacity: number
  readonly control: StreamControl
}

/** Reads a stream; `capacity` is the number of events that it accepts at first. */
export const read = (stream: EventStream, capacity = Number.POSITIVE_INFINITY): Reader => {
  const state: Omit<Reader, 'control'> = { events: [], ended: undefined, capacity }
  const control = stream.start({
    push: (events) => {
      state.events.push(...events)
      state.capacity -= events.length
      return state.capacity > 0
    },
    end: (reason) => {
      state.ended = reason
    },
  })
  return Object.assign(state, { control })
}
