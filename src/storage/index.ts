/** The engine's storage: its ports, scopes, and what all stores share. Each store is an entry of its own, for its driver. */
export type { Json, JsonObject, LogEvent, StoredEvent } from '../machines/json.ts'
export { type RedisAccess, type RedisState, redisAddressOf } from './addresses/redis-address.ts'
export { type AnswerPlace, type AnswerStore, answerLane, type FoundAnswers, type KeptAnswer } from './answer-store.ts'
export type {
  FanOut,
  HeldUnits,
  HoldState,
  HostFacts,
  LeaseStore,
  LeaseTable,
  LimitState,
  LiveActor,
  Member,
  Presence,
  RateLimit,
  RateLimits,
  SharedTurns,
  TurnRule,
} from './cluster-ports.ts'
export { DataFolderUnusable, openDataFolder } from './data-folder.ts'
export { coveredWhere, everyChoiceOf } from './list-index.ts'
export { LocalAnswers } from './local-answers.ts'
export { LocalLimits } from './local-limits.ts'
export { LocalTurns } from './local-turns.ts'
export { NewerStore } from './newer-store.ts'
export {
  type AppendOutcome,
  type BlobStore,
  type Commit,
  type CommitStore,
  type MessageRecord,
  type RecordKind,
  type RecordQuery,
  type RecordStore,
  type Storage,
  type StoredLogEvent,
  type StoredRecord,
  StoreUnavailable,
} from './ports.ts'
export { readinessOf, writeProbes } from './readiness.ts'
export type { Residue } from './residue.ts'
export {
  covers,
  narrowedScope,
  organizationScope,
  projectScope,
  type Scope,
  scopeAmong,
  settledScope,
  tenantScope,
  userScope,
  wholeProjectScope,
  workScope,
} from './scope.ts'
export { sealedAnswers } from './sealed-answers.ts'
export type { Candidate, SearchDocument, SearchIndex, SearchStore } from './search/search-port.ts'
export { type StoredVector, type VectorSpace, type VectorStore, VectorsUnusable } from './search/vector-port.ts'
export { loadMasterKey, MasterKeyUnusable, openSecretBox, SecretUnreadable } from './secrets.ts'
export { StoreInUse } from './store-in-use.ts'
export { currentTotal, exactly, exactTotal, type Total, totalAgeMs } from './totals.ts'
