import type { Logger } from 'pino'
import type { MachineDefinition } from '#machines/definition.ts'
import type { RecordKind, Storage } from '#storage/ports.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import type { Clock } from './clock.ts'
import type { EffectCatalog } from './effects/effects.ts'
import type { Host } from './host.ts'
import type { EndedStream } from './log/ended-stream.ts'
import type { Ledger } from './log/ledger.ts'
import type { Ownership } from './recovery/ownership.ts'
import type { Sinks } from './sinks.ts'
import type { Owner } from './step/actor-state.ts'

/** What a host is made of. */
export interface HostOptions {
  readonly storage: Storage
  readonly definitions: readonly MachineDefinition[]
  /** Makes the effects for the host that will run them. */
  readonly effects: (host: Host) => EffectCatalog
  /** Makes those who take messages that are for no actor; none when absent. */
  readonly sinks?: (host: Host) => Sinks
  /** The record kind of each machine's list rows, by machine name. */
  readonly rows: Readonly<Record<string, RecordKind>>
  /** Whether something may be begun for this owner now; throws or rejects when it may not. Everything may when absent. */
  readonly admits?: (owner: Owner) => void | Promise<void>
  /** Further rows that a commit leaves; none when absent. */
  readonly ledger?: Ledger
  /** What operators see of it; absent: not observed. */
  readonly telemetry?: Telemetry
  readonly clock: Clock
  readonly log: Logger
  /** Name of this node, for people: its actors say who made them, and who took them over. */
  readonly nodeName?: string
  /** Which actors it runs. */
  readonly ownership: Ownership
  /** Resolves when requests are served: what earlier processes left undone is taken up then; at once when absent. */
  readonly serving?: Promise<void>
  /** Called when an effect has ended that journaled more than one part. */
  readonly streamEnded?: (ended: EndedStream) => void
  /** So many rows and messages wait behind commits before requests are refused; 50,000 when absent. */
  readonly mostBehind?: number
}
