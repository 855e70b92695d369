import type { AnyUseCase, UseCases } from '#actors/call/use-cases.ts'
import { callerFrom } from '#gateway/apis/responses/background/stored-caller.ts'
import type { LineCalls } from '#gateway/call/accounting/line-calls.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { isObject } from '#outgoing/wire.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { requestValidator } from '#specs/dsl/validate.ts'
import { chatCompletions } from '#specs/resources/gateway/chat-completions.ts'
import { embeddings } from '#specs/resources/gateway/embeddings.ts'
import { messages } from '#specs/resources/gateway/messages.ts'
import { responses } from '#specs/resources/gateway/responses.ts'
import type { JsonObject } from '#storage/index.ts'

/** A request of a batch, with the caller of the batch. */
export interface LineRequest {
  readonly project: string
  readonly endpoint: string
  /** As `storedCaller` stores it. */
  readonly caller: JsonObject
  readonly requestId: string
  readonly body: object
}

/**
 * Makes one request of a batch. Returns its answer as JSON text.
 *
 * @param made gets the model calls that it makes, also those of a request that fails after them.
 * @throws {ServiceError}
 */
export type CallLine = (line: LineRequest, signal: AbortSignal, made: LineCalls) => Promise<string>

type Served = Pick<UseCases, 'chat_completions.create' | 'responses.create' | 'embeddings.create' | 'messages.create'>

/** Returns the function that makes requests of batches, by the operations that serve requests of callers. */
export const lineCall = (useCases: Served): CallLine => {
  const served = new Map<string, { readonly operation: Operation; readonly useCase: AnyUseCase }>([
    entry(chatCompletions['chat_completions.create'], useCases['chat_completions.create']),
    entry(responses['responses.create'], useCases['responses.create']),
    entry(embeddings['embeddings.create'], useCases['embeddings.create']),
    entry(messages['messages.create'], useCases['messages.create']),
  ])
  const validators = new Map([...served].map(([path, { operation }]) => [path, requestValidator(operation)]))
  return async ({ project, endpoint, caller, requestId, body }, signal, line) => {
    const useCase = served.get(endpoint)?.useCase
    if (useCase === undefined) throw new Error(`no batch endpoint ${endpoint}`)
    validators.get(endpoint)?.body(body)
    const { principal, scope, tenant, externalUserId, models, guardrails } = callerFrom(project, caller)
    const limits = models === null ? {} : { limits: { models, tenants: null, operations: null } }
    const result = await useCase({
      ...{ principal: { ...principal, ...limits }, scope, attribution: { tenant, externalUserId } },
      ...{ params: {}, query: {}, body, files: [], idempotency: null, after: null, accept: '' },
      ...{ requestId, remoteAddress: '', signal, line },
      ...(guardrails !== undefined && { guardrails: guardrails.join() }),
      onGone: (listener) => {
        if (signal.aborted) listener()
        else signal.addEventListener('abort', listener, { once: true })
      },
    })
    return jsonOf(result)
  }
}

const entry = (operation: Operation, useCase: AnyUseCase) => [operation.paths[0], { operation, useCase }] as const

/** The answer on one line: line ends occur in JSON between values only. */
const jsonOf = async (result: unknown): Promise<string> => {
  const text = await textOf(result)
  return /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+/g, ' ') : text
}

const textOf = async (result: unknown): Promise<string> => {
  if (isObject(result) && isObject(result.json)) return asText(await encodeJson(result.json))
  const bytes = isObject(result) && isObject(result.bytes) ? result.bytes.bytes : undefined
  if (typeof bytes === 'string' || bytes instanceof Uint8Array) return asText(bytes)
  throw new Error('the answer of a line is a stream')
}

const asText = (bytes: string | Uint8Array): string =>
  typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
