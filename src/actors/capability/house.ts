import type { Logger } from 'pino'
import type { MachineDefinition } from '#machines/definition.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { ServerKeys } from '#records/sealing/server-keys.ts'
import type { RateLimits } from '#storage/cluster-ports.ts'
import type { RecordKind, RecordStore, Storage } from '#storage/ports.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import type { NoticeDelivery } from '../records/notice-delivery.ts'
import type { AnyKind } from '../records/schema.ts'
import type { SecretBox } from '../records/secret-box.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ClusterParts } from '../runtime/cluster/cluster-node.ts'
import type { Host } from '../runtime/host.ts'
import type { Runtime } from '../runtime/runtime.ts'

/** What every capability may use when it opens. What only some offer or need goes by a `Port`. */
export interface House {
  /** Its `records` deliver the messages of what they write. */
  readonly storage: Storage
  readonly records: RecordStore
  /** Runs the actors. While capabilities open it takes no events yet; its `rows` are there. */
  readonly host: Host
  /** Resolves once the runtime has started. */
  readonly runtime: Promise<Runtime>
  readonly notices: NoticeDelivery
  /** Every kind of record, and those that are list rows of actors, over all capabilities. */
  readonly kinds: readonly AnyKind[]
  readonly actorRows: readonly RecordKind[]
  /** The kind of the list rows of each machine that has some, by its name. */
  readonly rowsOfMachine: Readonly<Record<string, RecordKind>>
  readonly definitions: readonly MachineDefinition[]
  readonly guard: SsrfGuard
  readonly box: SecretBox
  readonly keys: ServerKeys
  readonly limits: RateLimits
  /** Absent for one process. */
  readonly cluster?: ClusterParts
  /** What operators see; absent: not observed. */
  readonly telemetry?: Telemetry
  readonly clock: Clock
  /** `clock.now`: ms since the epoch. */
  readonly now: () => number
  readonly log: Logger
}
