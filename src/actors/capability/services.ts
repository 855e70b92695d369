import type { Logger } from 'pino'
import type { MachineDefinition } from '#machines/index.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { ServerKeys } from '#records/sealing/server-keys.ts'
import type { AnswerStore, RateLimits, RecordKind, RecordStore, SharedTurns, Storage } from '#storage/index.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import type { CredentialChanges } from '../records/caches/credential-changes.ts'
import type { NoticeDelivery } from '../records/notice-delivery.ts'
import type { AnyKind } from '../records/schema.ts'
import type { SecretBox } from '../records/secret-box.ts'
import type { Clock } from '../runtime/index.ts'
import type { ClusterParts, Host, Runtime } from '../runtime/internal.ts'

/**
 * Shared services that every capability gets when it opens. Services that only some capabilities offer or need are
 * exchanged through a `Port`.
 */
export interface Services {
  /** Storage whose `records` also deliver the notices of the records written. */
  readonly storage: Storage
  readonly records: RecordStore
  /** Runs the actors. It accepts no events while capabilities open, but its `rows` are already available. */
  readonly host: Host
  /** Resolves once the runtime has started. */
  readonly runtime: Promise<Runtime>
  readonly notices: NoticeDelivery
  /** Every kind of record, over all capabilities; `actorRows` has the kinds of actors' list rows. */
  readonly kinds: readonly AnyKind[]
  readonly actorRows: readonly RecordKind[]
  /** Kinds of list rows, by machine name, for machines that have list rows. */
  readonly rowsOfMachine: Readonly<Record<string, RecordKind>>
  readonly definitions: readonly MachineDefinition[]
  readonly guard: SsrfGuard
  readonly box: SecretBox
  readonly keys: ServerKeys
  readonly limits: RateLimits
  /** Answers of models that may be given again. */
  readonly answers: AnswerStore
  /** Turns at hosts that do not belong to the installation. */
  readonly turns: SharedTurns
  /** Absent when this is the only process. */
  readonly cluster?: ClusterParts
  /** Metrics and traces; not recorded when absent. */
  readonly telemetry?: Telemetry
  /** Notices that credentials have ended; absent in tools, which serve no requests. */
  readonly credentialChanges?: CredentialChanges | undefined
  readonly clock: Clock
  /** `clock.now`: ms since the epoch. */
  readonly now: () => number
  readonly log: Logger
}
