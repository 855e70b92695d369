import type { UseCases, UseCasesOf } from '#actors/call/use-cases.ts'
import { batchDefinition } from '#machines/batch/batch-definition.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { maxValuesOfShort } from '#outgoing/shares/json-body.ts'
import { jsonSpans } from '#outgoing/shares/json-spans.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { derivedId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { ResultOf } from '#specs/index.ts'
import { maxBatchLineBytes, messagesEndpoint } from '#specs/resources/gateway/batches.ts'
import { inShares, runInSlices } from '#src/concurrency/run-in-slices.ts'
import type { Scope } from '#storage/index.ts'
import { linesOf } from './batch-lines.ts'
import { type BatchParts, batchRowOf, beginBatch, cancelBatch } from './begin-batch.ts'
import { type BatchRowData, batchRows } from './kinds.ts'

/** Dependencies of Anthropic's batches. */
export interface MessageBatchParts extends BatchParts {
  /** Public address of the server; null when none is configured, where results have a relative address. */
  readonly publicOrigin: string | null
}

type MessageBatch = ResultOf<'message_batches.get'>
type Requests = Parameters<UseCases['message_batches.create']>[0]['body']['requests']

/** Time in which the messages of a batch are made, as at Anthropic. */
const windowMs = 86_400_000

/** Use-cases of Anthropic's message batches, which are batches with the endpoint `/v1/messages`. */
export const messageBatchUseCases = (parts: MessageBatchParts): UseCasesOf<'message_batches'> => {
  const { host, records, clock, publicOrigin } = parts
  const table = new Table(records, batchRows, clock.now)
  const viewOf = (row: Row<BatchRowData>) => messageBatch(row, publicOrigin ?? '')
  const found = async (scope: Scope, id: string) => {
    const batch = await host.find(scope, batchDefinition, id)
    const row = batchRowOf(batch)
    if (row.data.endpoint !== messagesEndpoint) throw new ServiceError('not_found', { param: 'message_batch_id' })
    return { batch, row }
  }
  /** @throws {ServiceError} `invalid_transition` */
  const ended = async (scope: Scope, id: string) => {
    const one = await found(scope, id)
    if (!one.row.data.open) return one
    throw new ServiceError('invalid_transition', {
      message: `The batch ${id} has not ended. Wait until it has, or cancel it.`,
    })
  }
  return {
    'message_batches.create': async (call) => {
      const { project, tenant } = call.scope
      const lines = await requestLines(call.body.requests)
      const make = async (batch: string): Promise<string> => {
        const id = derivedId('file', clock.now(), `${batch}:input`)
        const filename = `${batch}_input.jsonl`
        await parts.files().make({ id, project, tenant, filename, purpose: 'batch', content: each(lines) })
        return id
      }
      const batch = await beginBatch(parts, call, {
        ...{ input_file_id: make, endpoint: messagesEndpoint, completion_window: '24h', window_ms: windowMs },
        metadata: { requests: String(lines.length) },
      })
      return viewOf(batchRowOf(batch))
    },
    'message_batches.list': async ({ scope, query: { limit, after_id, before_id } }) => {
      await host.rows.shown()
      const after = before_id ?? after_id
      const rows = await table.list(scope, {
        ...{ limit: limit + 1, ascending: before_id !== undefined, where: { endpoint: messagesEndpoint } },
        ...(after !== undefined && { after }),
      })
      const page = rows.slice(0, limit)
      const data = (before_id === undefined ? page : page.toReversed()).map(viewOf)
      return {
        ...{ data, has_more: rows.length > limit },
        ...{ first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
      }
    },
    'message_batches.get': async ({ scope, params }) => viewOf((await found(scope, params.message_batch_id)).row),
    'message_batches.results': async ({ scope, params }) => {
      const { row } = await ended(scope, params.message_batch_id)
      return { contentType: 'application/x-jsonl', bytes: resultsOf(parts, scope, row) }
    },
    'message_batches.cancel': async ({ scope, params }) => {
      await found(scope, params.message_batch_id)
      return viewOf(batchRowOf(await cancelBatch(parts, scope, params.message_batch_id)))
    },
    'message_batches.delete': async ({ scope, params }) => {
      const { batch } = await ended(scope, params.message_batch_id)
      await host.deliverTo(batch, { event: { type: 'delete' }, cause: `delete:${batch.id}` })
      return { id: batch.id, type: 'message_batch_deleted' }
    },
  }
}

/** @throws {ServiceError} `invalid_field`, `body_too_large`, each naming the request. */
const requestLines = async (requests: Requests): Promise<readonly Buffer[]> => {
  const ids = new Set<string>()
  const lines: Buffer[] = []
  for await (const [at, { custom_id, params }] of inShares(requests.entries())) {
    const invalid = (field: string, message: string) => invalidField(`requests[${at}].${field}`, message)
    if (ids.has(custom_id)) throw invalid('custom_id', 'custom_id is that of an earlier request.')
    if (params.stream === true) throw invalid('params.stream', 'Messages of a batch are not streamed.')
    ids.add(custom_id)
    const line = Buffer.from(await encodeJson({ custom_id, method: 'POST', url: messagesEndpoint, body: params }))
    const limit = await limitExceededBy(line)
    if (limit !== null) {
      const message = `A request of a batch has at most ${limit}.`
      throw new ServiceError('body_too_large', { param: `requests[${at}]`, message })
    }
    lines.push(Buffer.concat([line, Buffer.from('\n')]))
  }
  return lines
}

/** The limit of a line that is exceeded; null for none. */
const limitExceededBy = async (line: Buffer): Promise<string | null> => {
  if (line.length > maxBatchLineBytes) return `${maxBatchLineBytes} bytes`
  const limits = { maxDepth: Number.POSITIVE_INFINITY, maxWeight: maxValuesOfShort }
  const { weight } = await runInSlices(jsonSpans(line, limits))
  return weight > maxValuesOfShort ? `${maxValuesOfShort} names, strings, objects and arrays` : null
}

async function* each(lines: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  yield* lines
}

/** Yields the results that the files of the batch have. */
async function* resultsOf(
  { files }: BatchParts,
  scope: Scope,
  { data }: Row<BatchRowData>,
): AsyncGenerator<Uint8Array> {
  for (const id of [data.output_file_id, data.error_file_id]) {
    const file = id === null ? null : await files().find(scope, id)
    if (file === null) continue
    for await (const line of inShares(linesOf(file.content(), Number.POSITIVE_INFINITY)))
      if (line !== 'long') yield Buffer.concat([line, Buffer.from('\n')])
  }
}

const messageBatch = ({ id, data }: Row<BatchRowData>, origin: string): MessageBatch => {
  const { status, created_at_ms, completed: succeeded } = data
  const total = data.total || Number(data.metadata.requests)
  const left = total - succeeded - data.failed
  const failed = status === 'failed' ? left : data.failed
  const canceled = status === 'cancelled' ? left : 0
  const expired = status === 'expired' ? left : 0
  return {
    ...{ id, type: 'message_batch', processing_status: processingOf(data) },
    request_counts: {
      ...{ processing: data.open ? left : 0, succeeded, errored: failed, canceled, expired },
    },
    ...{ created_at: timeOf(created_at_ms), expires_at: timeOf(created_at_ms + data.window_ms) },
    ...{ ended_at: maybeTime(data.ended_at_ms), cancel_initiated_at: maybeTime(data.cancelling_at_ms) },
    archived_at: null,
    results_url: data.open ? null : `${origin}/v1/messages/batches/${id}/results`,
  }
}

const processingOf = ({ open, status }: BatchRowData): MessageBatch['processing_status'] => {
  if (!open) return 'ended'
  return status === 'cancelling' ? 'canceling' : 'in_progress'
}

const timeOf = (atMs: number): string => new Date(atMs).toISOString()

const maybeTime = (atMs: number | null): string | null => (atMs === null ? null : timeOf(atMs))
