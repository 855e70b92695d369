import type { MachineDefinition } from '#machines/definition.ts'
import type { RecordKind, Storage } from '#storage/ports.ts'
import type { Clock } from './clock.ts'
import type { EffectCatalog } from './effects/effects.ts'
import type { Host } from './host.ts'
import type { HostTelemetry } from './host-telemetry.ts'
import type { EndedStream } from './log/ended-stream.ts'
import type { Ledger, TakenOver } from './log/ledger.ts'
import type { Logger } from './logger.ts'
import type { Slices } from './messages/slices.ts'
import type { Ownership } from './recovery/ownership.ts'
import type { Refuse } from './refused.ts'
import type { Sinks } from './sinks.ts'
import type { Owner } from './step/actor-state.ts'
import type { Draft } from './step/step.ts'

/** How long a request waits until the messages that an actor has sent are delivered, in ms. */
export const deliveryMs = 2000

/** Default for `HostOptions.maxBehind`, the backlog of rows and messages from which requests are refused. */
export const usualBehind = 50_000

/** Options and dependencies of a `Host`. */
export interface HostOptions {
  readonly storage: Storage
  readonly definitions: readonly MachineDefinition[]
  /** Creates the effect implementations for the host that will run them. */
  readonly effects: (host: Host) => EffectCatalog
  /** Creates the sinks: receivers of messages that are not addressed to an actor; none when absent. */
  readonly sinks?: (host: Host) => Sinks
  /** The record kind of each machine's list rows, by machine name. */
  readonly rows: Readonly<Record<string, RecordKind>>
  /** Checks whether new work may start for an owner; throws or rejects if not. Everything may start when absent. */
  readonly admits?: (owner: Owner) => void | Promise<void>
  /** Derives further rows from each commit; none when absent. */
  readonly ledger?: Ledger
  /** Derives a row from each takeover, which no commit waits for; none when absent. */
  readonly takenOver?: TakenOver
  /** Creates the errors of refused requests; `Refused` when absent. */
  readonly refuse?: Refuse
  /** Checks a step before it is written; what it throws fails the step. Nothing is checked when absent. */
  readonly verify?: (draft: Draft) => void
  /** Cuts the work for many readers of a stream; `plainSlices` when absent. */
  readonly slices?: Slices
  /** Metrics and traces; not recorded when absent. */
  readonly telemetry?: HostTelemetry
  readonly clock: Clock
  readonly log: Logger
  /** Display name of this node: commits record which node created an actor and which one took it over. */
  readonly nodeName?: string
  /** Which actors this process runs. */
  readonly ownership: Ownership
  /** Resolves when requests are served. Unfinished work of earlier processes is recovered then; at once when absent. */
  readonly serving?: Promise<void>
  /** Called when an effect that journaled more than one part has ended. */
  readonly streamEnded?: (ended: EndedStream) => void
  /** Longest time in ms for which text of a running effect is shown without being durable; a second when absent. */
  readonly streamCommitMs?: number
  /**
   * Number of unwritten rows and undelivered messages from which requests are refused; 50,000 when absent. What waits
   * for an operator does not count.
   */
  readonly maxBehind?: number
}
