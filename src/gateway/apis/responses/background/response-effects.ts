import { shownError } from '#gateway/apis/streamed-chat.ts'
import { responseDefinition } from '#machines/response/response-definition.ts'
import { contextOf, type EffectCatalog } from '#runtime/index.ts'
import { type EraseParts, eraseActor } from '#runtime/internal.ts'
import { type JsonObject, StoreUnavailable } from '#storage/index.ts'

/** A response to be made, as stored in its actor. */
interface Requested {
  readonly id: string
  readonly project: string
  readonly request: JsonObject
  readonly caller: JsonObject
  readonly document: JsonObject
}

/** Dependencies of the effects of responses. */
export interface ResponseEffectParts extends EraseParts {
  /** Makes the response and resolves with its document. @throws {ServiceError} */
  readonly make: (requested: Requested, signal: AbortSignal) => Promise<JsonObject>
}

/** The effects of responses, by `<machine>.<name>`. */
export const responseEffects = (parts: ResponseEffectParts): EffectCatalog => ({
  'response.beginResponse': { policy: 'idempotent', run: async () => ({ event: { type: 'begun' } }) },
  'response.makeResponse': {
    policy: 'idempotent',
    run: async (_params, { actor: id, owner: { project }, context, signal }) => {
      const { request, caller, document } = contextOf(responseDefinition, { context })
      try {
        const made = await parts.make({ id, project, request, caller, document }, signal)
        return { event: { type: 'response_made', document: made } }
      } catch (error) {
        if (signal.aborted || error instanceof StoreUnavailable) throw error
        const { code, message } = shownError(
          error instanceof Error ? error : new Error('not an error', { cause: error }),
        )
        return { event: { type: 'response_failed', code, message } }
      }
    },
  },
  'response.eraseResponse': eraseActor(parts),
})
