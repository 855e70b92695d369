import type { Call } from '#actors/call/call.ts'
import type { FileService } from '#actors/capability/file-service.ts'
import type { Services } from '#actors/capability/services.ts'
import { storedCaller } from '#gateway/apis/responses/background/stored-caller.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { BatchInput } from '#machines/batch/batch.ts'
import { batchDefinition } from '#machines/batch/batch-definition.ts'
import { type CountedLimit, CountedLimits } from '#records/counted-limits.ts'
import { type Row, rowOf } from '#records/schema.ts'
import { newId } from '#runtime/index.ts'
import { newIdFor, type Resident, rowRecord } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxOpenBatches } from '#specs/resources/gateway/batches.ts'
import { projectScope, type Scope } from '#storage/index.ts'
import type { CancelledBatches } from './cancelled-batches.ts'
import { type BatchRowData, batchRows } from './kinds.ts'

/** Dependencies of the use-cases of batches. */
export interface BatchParts extends Pick<Services, 'clock' | 'host' | 'records'> {
  /** Called when files are read or written. */
  readonly files: () => FileService
  readonly cancelled: CancelledBatches
}

/** A batch to begin. */
type NewBatch = Omit<BatchInput, 'batch_id' | 'caller' | 'created_at_ms' | 'input_file_id'> & {
  /** The file with its requests, or a function that makes the file of a batch. */
  readonly input_file_id: string | ((batch: string) => Promise<string>)
}

/** Begins a batch. @throws {ServiceError} `rate_limit_exceeded` when the project has too many open ones. */
export const beginBatch = async (
  { host, records, clock }: BatchParts,
  call: Call<unknown, unknown, unknown>,
  { input_file_id: file, ...batch }: NewBatch,
): Promise<Resident> => {
  const { scope, idempotency } = call
  const { project } = scope
  const id = newIdFor(call, batchDefinition.idPrefix, host.newActorId)
  const { tenant, externalUserId, ...caller } = callerOf(call)
  const owner = { project, tenant, user: tenant === null ? null : externalUserId, createdAt: clock.now() }
  const limit: CountedLimit = {
    max: maxOpenBatches,
    rows: host.rows,
    count: () => records.count(batchRows, projectScope(project), { open: true }),
    full: () =>
      new ServiceError('rate_limit_exceeded', { message: `A project has at most ${maxOpenBatches} open batches.` }),
  }
  const cause = idempotency?.cause ?? newId('req')
  await CountedLimits.at(records).within(`batches ${project}`, limit, async () => {
    const input_file_id = typeof file === 'string' ? file : await file(id)
    const stored = storedCaller({ ...caller, tenant, externalUserId })
    const input = { ...batch, batch_id: id, input_file_id, caller: stored, created_at_ms: clock.now() }
    return host.create({ kind: batchDefinition, id, owner, input, cause })
  })
  return host.find(scope, batchDefinition, id)
}

/** Cancels a batch; no effect on one that is being cancelled. @throws {ServiceError} `not_found`, `invalid_transition` */
export const cancelBatch = async (
  { host, clock, cancelled }: BatchParts,
  scope: Scope,
  id: string,
): Promise<Resident> => {
  const batch = await host.find(scope, batchDefinition, id)
  if (['cancelling', 'cancelled'].includes(batchRowOf(batch).data.status)) return batch
  await host.deliverTo(batch, { event: { type: 'cancel', at: clock.now() }, cause: newId('req') })
  cancelled.cancelled(id)
  return host.find(scope, batchDefinition, id)
}

/** The list row of a batch as it is now. */
export const batchRowOf = (batch: Resident): Row<BatchRowData> => rowOf(batchRows, rowRecord(batch))
