import type { UseCases, UseCasesOf } from '#actors/call/use-cases.ts'
import { openAiPage, openAiRows, secondsOf } from '#actors/capability/openai-pages.ts'
import { batchDefinition } from '#machines/batch/batch-definition.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import type { Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { ResultOf } from '#specs/index.ts'
import { batchEndpoints, messagesEndpoint } from '#specs/resources/gateway/batches.ts'
import { type BatchParts, batchRowOf, beginBatch, cancelBatch } from './begin-batch.ts'
import { type BatchRowData, batchRows } from './kinds.ts'

type BatchView = ResultOf<'batches.get'>
type CreateCall = Parameters<UseCases['batches.create']>[0]

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const longestWindowMs = 7 * 86_400_000

/** Use-cases of OpenAI's batches. */
export const batchUseCases = (parts: BatchParts): UseCasesOf<'batches'> => {
  const { host, records, clock } = parts
  const table = new Table(records, batchRows, clock.now)
  return {
    'batches.create': (call) => create(parts, call),
    'batches.list': async ({ scope, query }) => {
      await host.rows.shown()
      const { rows, more } = await openAiRows(table, scope, query)
      return openAiPage(rows.map(batchView), more)
    },
    'batches.get': async ({ scope, params }) => residentView(await host.find(scope, batchDefinition, params.batch_id)),
    'batches.cancel': async ({ scope, params }) => {
      return residentView(await cancelBatch(parts, scope, params.batch_id))
    },
  }
}

/** Time in ms that a batch may take to end when its window has passed: its file is kept until then. */
const endingMs = 3_600_000

const create = async (parts: BatchParts, call: CreateCall): Promise<BatchView> => {
  const { scope, body } = call
  const file = await parts.files().find(scope, body.input_file_id)
  const at = { param: 'input_file_id' }
  if (file === null) throw new ServiceError('not_found', { ...at, message: `There is no file ${body.input_file_id}.` })
  if (file.purpose !== 'batch')
    throw new ServiceError('invalid_field', { ...at, message: 'The file must have the purpose batch.' })
  const { input_file_id, endpoint, completion_window, metadata } = body
  const window_ms = windowOf(completion_window)
  await parts.files().keep(scope, input_file_id, parts.clock.now() + window_ms + endingMs)
  const batch = { input_file_id, endpoint, completion_window, window_ms, metadata: metadata ?? {} }
  return residentView(await beginBatch(parts, call, batch))
}

/** @throws {ServiceError} `invalid_field` */
const windowOf = (window: string): number => {
  const ms = Number(window.slice(0, -1)) * (unitsMs[window.slice(-1)] ?? 0)
  if (ms <= longestWindowMs) return ms
  throw invalidField('completion_window', 'completion_window is at most 7d.')
}

const residentView = (resident: Resident): BatchView => batchView(batchRowOf(resident))

const batchView = ({ id, data }: Row<BatchRowData>): BatchView => ({
  ...{ id, object: 'batch', endpoint: endpointOf(data.endpoint) },
  ...{ input_file_id: data.input_file_id, completion_window: data.completion_window, status: data.status },
  ...(data.errors.length > 0 && { errors: { object: 'list' as const, data: data.errors } }),
  ...(data.output_file_id !== null && { output_file_id: data.output_file_id }),
  ...(data.error_file_id !== null && { error_file_id: data.error_file_id }),
  request_counts: { total: data.total, completed: data.completed, failed: data.failed },
  usage: usageOf(data),
  metadata: data.metadata,
  ...timesOf(data),
})

const endpointOf = (endpoint: string): BatchView['endpoint'] =>
  batchEndpoints.find((each) => each === endpoint) ?? messagesEndpoint

const usageOf = ({ tokens }: BatchRowData) => ({
  ...{ input_tokens: tokens.input, input_tokens_details: { cached_tokens: tokens.cached } },
  ...{ output_tokens: tokens.output, output_tokens_details: { reasoning_tokens: tokens.reasoning } },
  total_tokens: tokens.input + tokens.output,
})

const timesOf = (data: BatchRowData) => {
  const endedAt = endNames[data.status]
  return {
    created_at: secondsOf(data.created_at_ms),
    expires_at: secondsOf(data.created_at_ms + data.window_ms),
    ...timeOf('in_progress_at', data.in_progress_at_ms),
    ...timeOf('finalizing_at', data.outcome === null ? null : data.finalizing_at_ms),
    ...timeOf('cancelling_at', data.cancelling_at_ms),
    ...(endedAt !== undefined && timeOf(endedAt, data.ended_at_ms)),
  }
}

type TimeName =
  | 'in_progress_at'
  | 'finalizing_at'
  | 'cancelling_at'
  | 'completed_at'
  | 'failed_at'
  | 'expired_at'
  | 'cancelled_at'

const endNames: Readonly<Partial<Record<string, TimeName>>> = {
  ...{ completed: 'completed_at', failed: 'failed_at', expired: 'expired_at', cancelled: 'cancelled_at' },
}

const timeOf = (name: TimeName, atMs: number | null): { readonly [Name in TimeName]?: number } =>
  atMs === null ? {} : { [name]: secondsOf(atMs) }
