import { shownError } from '#gateway/apis/streamed-chat.ts'
import { responseDefinition } from '#machines/response/response-definition.ts'
import { contextOf, type EffectCatalog, type EffectContext } from '#runtime/index.ts'
import { type EraseParts, eraseActor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type JsonObject, type StoredEvent, StoreUnavailable } from '#storage/index.ts'

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
  /** Makes the response and resolves with its document; `show` gets its events as text. @throws {ServiceError} */
  readonly make: (requested: Requested, to: Pick<EffectContext, 'signal' | 'show'>) => Promise<JsonObject>
}

/** The effects of responses, by `<machine>.<name>`. */
export const responseEffects = (parts: ResponseEffectParts): EffectCatalog => ({
  'response.beginResponse': { policy: 'idempotent', run: async () => ({ event: { type: 'begun' } }) },
  'response.makeResponse': {
    policy: 'stream',
    run: async (_params, { actor: id, owner: { project }, context, signal, show }) => {
      const { request, caller, document } = contextOf(responseDefinition, { context })
      try {
        const made = await parts.make({ id, project, request, caller, document }, { signal, show })
        return { ...kept({ type: 'response_made', document: made }), takesText: true }
      } catch (error) {
        if (signal.aborted || error instanceof StoreUnavailable) throw error
        const { code, message } = shownError(
          error instanceof Error ? error : new Error('not an error', { cause: error }),
        )
        return { ...kept({ type: 'response_failed', code, message }), takesText: true }
      }
    },
    restarted: async () => ({ again: true, ...kept({ type: 'response_restarted' }) }),
    unknown: () => failed('interrupted'),
    tooLarge: () => failed('answer_too_large'),
  },
  'response.eraseResponse': eraseActor(parts),
})

/** An event of which a commit keeps all but the text that it takes. */
const kept = (event: StoredEvent) => ({ event, stored: event })

const failed = (code: 'interrupted' | 'answer_too_large'): StoredEvent => ({
  ...{ type: 'response_failed', code },
  message: new ServiceError(code).message,
})
