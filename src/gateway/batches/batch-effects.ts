import { isNotFound } from '#actors/call/not-found.ts'
import type { FileService } from '#actors/capability/file-service.ts'
import { callerFrom } from '#gateway/apis/responses/background/stored-caller.ts'
import type { BatchError } from '#machines/batch/batch.ts'
import { batchDefinition } from '#machines/batch/batch-definition.ts'
import { contextOf, derivedId, type EffectCatalog, type EffectContext } from '#runtime/index.ts'
import { type EraseParts, eraseActor, persistently } from '#runtime/internal.ts'
import { messagesEndpoint } from '#specs/resources/gateway/batches.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import { projectScope } from '#storage/index.ts'
import { BatchBlobs, type BatchOwner } from './batch-blobs.ts'
import { LineChecker, namesIn, requestIn } from './batch-lines.ts'
import type { CancelledBatches } from './cancelled-batches.ts'
import type { CallLine } from './line-call.ts'
import { type NamedLine, resultLines } from './result-lines.ts'
import { LineRunner } from './run-line.ts'
import { outcomeIn, storedUsage } from './schema.ts'

/** Dependencies of the effects of batches. */
export interface BatchEffectParts extends EraseParts {
  /** Called when a file is read or written. */
  readonly files: () => FileService
  readonly call: CallLine
  readonly cancelled: CancelledBatches
}

/** The effects of batches, by `<machine>.<name>`. */
export const batchEffects = (parts: BatchEffectParts): EffectCatalog => {
  const work = new BatchWork(parts)
  return {
    'batch.validateBatch': {
      policy: 'idempotent',
      run: async (_params, context) => ({ event: await work.validate(context) }),
    },
    'batch.runLine': {
      policy: 'idempotent',
      run: async ({ line }, context) => ({ event: await work.run(Number(line), context) }),
    },
    'batch.finishBatch': {
      policy: 'idempotent',
      run: async (_params, context) => ({ event: await work.finish(context) }),
    },
    'batch.eraseBatch': eraseActor(parts, (context) => work.removeFiles(context)),
  }
}

const ownerOf = ({ actor, owner }: EffectContext): BatchOwner => ({
  ...{ project: owner.project, tenant: owner.tenant, batch: actor },
})

const stateOf = ({ context }: EffectContext) => contextOf(batchDefinition, { context })

class BatchWork {
  readonly #parts: BatchEffectParts
  readonly #blobs: BatchBlobs
  readonly #lines: LineRunner

  constructor(parts: BatchEffectParts) {
    this.#parts = parts
    this.#blobs = new BatchBlobs(parts.storage.blobs)
    this.#lines = new LineRunner(parts)
  }

  async validate(effect: EffectContext) {
    const { endpoint, input_file_id, caller } = stateOf(effect)
    const owner = ownerOf(effect)
    const { scope } = callerFrom(owner.project, caller)
    const checker = new LineChecker(endpoint, (first, text) => this.#blobs.putRequests(owner, first, text))
    const found = await this.#parts.files().find(scope, input_file_id)
    const { total, chunks, errors } = found === null ? gone : await checker.check(found.content()).catch(asGone)
    const at = this.#parts.clock.now()
    if (errors.length === 0) return { type: 'validated', total, chunks, at }
    await this.#blobs.clear(owner)
    return { type: 'rejected', errors, at }
  }

  async run(number: number, effect: EffectContext) {
    const { endpoint, caller, cancelling_at_ms } = stateOf(effect)
    const owner = ownerOf(effect)
    const { project, batch } = owner
    const isCancelled = cancelling_at_ms !== null
    // stored by an attempt whose commit a crash prevented
    const stored = await this.#blobs.outcome(owner, number)
    const text = stored === null ? await this.#request(owner, stateOf(effect).chunks, number) : null
    const line = text === null ? null : { project, batch, endpoint, caller, number, text, isCancelled }
    const outcome = line === null ? outcomeIn(stored ?? '') : await this.#lines.run(line, effect.signal)
    effect.signal.throwIfAborted()
    const put = () => this.#blobs.putOutcome(owner, number, JSON.stringify(outcome))
    if (stored === null) await persistently({ ...this.#parts, signal: effect.signal }, put)
    const { ok, tokens, metered } = outcome
    return { type: 'line_done', ok, tokens, metered: storedUsage(metered), at: this.#parts.clock.now() }
  }

  async finish(effect: EffectContext) {
    const { created_at_ms } = stateOf(effect)
    const owner = ownerOf(effect)
    const { project, tenant, batch } = owner
    const make = async (kind: 'output' | 'error', lines: AsyncIterable<string>): Promise<string | null> => {
      const id = derivedId('file', created_at_ms, `${batch}:${kind}`)
      // made by an attempt whose commit a crash prevented, and whose outcomes may be cleared
      if ((await this.#parts.files().find(projectScope(project), id)) !== null) return id
      const first = await firstOf(lines)
      if (first === null) return null
      const filename = `${batch}_${kind}.jsonl`
      const file = { id, project, tenant, filename, purpose: 'batch_output', content: joined(first) } as const
      await this.#parts.files().make(file)
      return id
    }
    const output_file_id = await make('output', this.#ended(owner, true))
    const error_file_id = await make('error', this.#failed(effect))
    await this.#blobs.clear(owner)
    return { type: 'finished', output_file_id, error_file_id, at: this.#parts.clock.now() }
  }

  async *#ended(owner: BatchOwner, ok: boolean): AsyncGenerator<string> {
    for await (const [, text] of this.#blobs.outcomes(owner)) {
      const outcome = outcomeIn(text)
      if (outcome.ok === ok) yield outcome.text
    }
  }

  /** Removes the files of a message batch, which its API shows as results only. */
  async removeFiles(effect: EffectContext): Promise<void> {
    const { endpoint, input_file_id, output_file_id, error_file_id } = stateOf(effect)
    if (endpoint !== messagesEndpoint) return
    for (const id of [input_file_id, output_file_id, error_file_id])
      if (id !== null) await this.#parts.files().remove(projectScope(effect.owner.project), id)
  }

  /** Lines that failed, then those that were not made, as far as the format has a word for them. */
  async *#failed(effect: EffectContext): AsyncGenerator<string> {
    const owner = ownerOf(effect)
    const { outcome, total, chunks, endpoint } = stateOf(effect)
    yield* this.#ended(owner, false)
    const format = resultLines(endpoint)
    const unmade = outcome === 'expired' ? format.expired : outcome === 'cancelled' ? format.cancelled : undefined
    if (unmade === undefined) return
    if (total === 0) yield* this.#unread(effect, unmade)
    const ended = new Set<number>()
    for await (const [line] of this.#blobs.outcomes(owner)) ended.add(line)
    for (const [at, first] of chunks.entries()) {
      const last = chunks[at + 1] ?? total
      if (Array.from({ length: last - first }, (_, n) => first + n).every((line) => ended.has(line))) continue
      const lines = ((await this.#blobs.requests(owner, first)) ?? '').split('\n')
      for (const [n, text] of lines.entries())
        if (!ended.has(first + n)) yield unmade({ batch: owner.batch, number: first + n, request: requestIn(text) })
      await nextSlice()
    }
  }

  /** The lines of a batch that was cancelled before its file was read. */
  async *#unread(effect: EffectContext, unmade: (line: NamedLine) => string): AsyncGenerator<string> {
    const { project, batch } = ownerOf(effect)
    const file = await this.#parts.files().find(projectScope(project), stateOf(effect).input_file_id)
    let number = 0
    for await (const request of namesIn(file?.content() ?? nothing()))
      yield unmade({ batch, number: number++, request })
  }

  async #request(owner: BatchOwner, chunks: readonly number[], number: number) {
    const first = chunks.findLast((each) => each <= number) ?? 0
    const group = (await this.#blobs.requests(owner, first)) ?? ''
    // several lines of a batch begin at once
    await nextSlice()
    const text = group.split('\n')[number - first]
    if (text === undefined) throw new Error('a request of a batch is missing')
    return text
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

const gone = {
  ...{ total: 0, chunks: [] },
  errors: [
    { code: 'file_not_found', line: null, message: 'The file was deleted.', param: 'input_file_id' },
  ] satisfies readonly BatchError[],
}

/** The file was deleted while it was read. */
const asGone = (error: unknown) => {
  if (isNotFound(error)) return gone
  throw error
}

/** Returns the lines, with the first one read; null when there is none. */
const firstOf = async (lines: AsyncIterable<string>) => {
  const iterator = lines[Symbol.asyncIterator]()
  const { done, value } = await iterator.next()
  return done === true ? null : { value, rest: { [Symbol.asyncIterator]: () => iterator } }
}

async function* joined({ value, rest }: { value: string; rest: AsyncIterable<string> }): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${value}\n`)
  for await (const line of rest) yield Buffer.from(`${line}\n`)
}
