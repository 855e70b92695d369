/**
 * What the server uses of the engine beyond `index.ts`: how it starts hosts and clusters, keeps rows and ledgers, erases
 * and repairs. It may change with any release of the server.
 */
export { lengthOf } from './blobs/blob-fields.ts'
export { actorBlobs, contentHashOf, tenantBlobs } from './blobs/blob-owner.ts'
export { backoffMs, within } from './clock.ts'
export type { ClusterParts } from './cluster/cluster-node.ts'
export { LiveDirectory } from './cluster/directory.ts'
export { isTooLong } from './commit/commit-document.ts'
export { type EraseParts, eraseActor } from './erasure/erase-actor.ts'
export {
  type EraserHost,
  type EraserParts,
  eraseListed,
  removeLog,
  requestErasure,
  sendDeleteToListed,
} from './erasure/erase-listed.ts'
export { erasedActors, isErased, markErased, unmarkErased } from './erasure/erased-actors.ts'
export { Host } from './host.ts'
export { idAt, idFloor, idWithTail, newIdBeside, newIdFor, newIdForBeside, tailOf } from './ids.ts'
export { liveActorOf } from './live-actor.ts'
export { Compaction, type CompactionState, endedStreams } from './log/compaction.ts'
export type { Ledger, TakenOver } from './log/ledger.ts'
export { logPage, streamPage } from './log/log-page.ts'
export { UpkeepSwitch, upkeepRows } from './log/upkeep-switch.ts'
export { ExpiringNames } from './messages/expiring-names.ts'
export type { MessageHost } from './messages/outbox.ts'
export {
  type PeerAnswer,
  PeerGone,
  type PeerRequest,
  type PeerService,
  PeerSilent,
  type Peers,
} from './messages/peers.ts'
export { type PlacedService, type PlacedTask, PlacedWork } from './messages/placed-work.ts'
export { persistently } from './persistently.ts'
export type { Ownership } from './recovery/ownership.ts'
export { type Shards, shardsOf } from './recovery/shard.ts'
export type { HostRefusal } from './refused.ts'
export { Resident } from './resident.ts'
export { Rounds } from './rounds.ts'
export { activities, rowRecord } from './rows/actor-row.ts'
export { listedRows } from './rows/listed-rows.ts'
export { RecordSweeper } from './rows/record-sweeper.ts'
export { type RowWatcher, RowWriter } from './rows/row-writer.ts'
export { epochs, type Processes, type Runtime, startRuntime } from './runtime.ts'
export { auditSink, type Sink, type Sinks, webhookSink } from './sinks.ts'
export { discardCause, type OperatorVerb } from './step/system-steps.ts'
export { ClusterRuns } from './stuck/start-number.ts'
export { type StuckKind, stuckKinds, stuckRows } from './stuck/stuck.ts'
export { stuckOf } from './stuck/stuck-field.ts'
export { Ticker, type Ticking, tickMsFor } from './ticker.ts'
export { WorkTime } from './work-time.ts'
