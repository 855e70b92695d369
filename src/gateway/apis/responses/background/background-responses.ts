import { isNotFound } from '#actors/call/not-found.ts'
import type { Caller } from '#gateway/call/caller.ts'
import { PushedBody, streamHeaders } from '#gateway/call/streaming/pushed-body.ts'
import { responseDefinition } from '#machines/response/response-definition.ts'
import { contextOf, newId } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Scope } from '#storage/index.ts'
import type { ResponseItem } from '../input-items.ts'
import type { ResponseDocument } from '../response-document.ts'
import type { ResponseRequest } from '../response-plan.ts'
import type { ResponseInput } from '../stored-responses.ts'
import { beginningFrames } from '../stored-stream.ts'
import { documentOf, itemsOf, requestOf, storedDocument, storedItems, storedRequest } from './schema.ts'
import { ShownEvents } from './shown-events.ts'
import { ShownStream } from './shown-stream.ts'
import { storedCaller } from './stored-caller.ts'

/** The host operations that background responses use. */
export type ResponseHost = Pick<Host, 'create' | 'find' | 'deliverTo' | 'newActorId'> & {
  readonly feed: Pick<Host['feed'], 'follow'>
}

/** A background response to be created. */
export interface Begun {
  readonly id: string
  readonly caller: Caller
  readonly request: ResponseRequest
  /**
   * The input of the request with its item references resolved, since the items may be deleted before the response is
   * made.
   */
  readonly sent: ResponseInput
  readonly input: readonly ResponseItem[]
  readonly document: ResponseDocument
  readonly cause: string
}

/** A background response as stored in its actor. */
export interface OfActor {
  readonly resident: Resident
  readonly document: ResponseDocument
  /** The document of its first events: it names the requested model, since the one that answers is not known then. */
  readonly begun: ResponseDocument
  /** How often a crash has cut it. */
  readonly restarts: number
  readonly input: readonly ResponseItem[]
}

/** Responses that are made without a connected caller, each by an actor with the response's id. */
export class BackgroundResponses {
  readonly #host: ResponseHost
  readonly #now: () => number

  constructor(host: ResponseHost, now: () => number) {
    this.#host = host
    this.#now = now
  }

  /** Creates the actor of a response. Once it is durable, the response is made even if this process crashes. */
  async begin({ id, caller, request, sent, input, document, cause }: Begun): Promise<void> {
    const { project, tenant, externalUserId } = caller
    const owner = { project, tenant, user: tenant === null ? null : externalUserId, createdAt: this.#now() }
    await this.#host.create({
      kind: responseDefinition,
      id,
      owner,
      input: {
        response_id: id,
        request: storedRequest(request, sent),
        caller: storedCaller(caller),
        input: storedItems(input),
        document: storedDocument(document),
      },
      cause,
    })
  }

  /** Returns null when the id is not that of a background response within reach. */
  async find(scope: Scope, agentId: string | null, id: string): Promise<OfActor | null> {
    try {
      const resident = await this.#host.find(scope, responseDefinition, id)
      const context = contextOf(responseDefinition, resident.state.snapshot)
      if (agentId !== null && context.caller.agent_id !== agentId) return null
      const document = documentOf(context.document)
      const begun = { ...document, model: requestOf(context.request).model ?? document.model }
      return { resident, document, begun, restarts: context.restarts ?? 0, input: itemsOf(context.input) }
    } catch (error) {
      if (isNotFound(error)) return null
      throw error
    }
  }

  /** Cancels a response; no effect on one that has ended. */
  async cancel({ resident, document }: OfActor): Promise<void> {
    if (isOver(document)) return
    try {
      await this.#host.deliverTo(resident, { event: { type: 'cancel' }, cause: newId('req') })
    } catch (error) {
      // it has ended in the meantime
      if (!(error instanceof ServiceError && error.code === 'invalid_transition')) throw error
    }
  }

  /** Deletes the actor and its data. */
  async remove({ resident }: OfActor): Promise<void> {
    await this.#host.deliverTo(resident, { event: { type: 'delete' }, cause: `delete:${resident.id}` })
  }

  /**
   * Streams the events of a response while it is made, and as they were after that: each has the same number whenever and
   * however often the stream is read.
   */
  stream(found: OfActor, { scope, after }: { readonly scope: Scope; readonly after: number | undefined }) {
    const { id } = found.resident
    const body = new PushedBody({
      resume: () => stream.resume(),
      gone: () => {
        control.stop()
        stream.stop()
      },
    })
    // the head is sent with the first bytes
    body.keepAlive()
    body.write(beginningFrames(found.begun, after))
    const shown = new ShownEvents({ after, attempt: found.restarts }, (frame) => body.write(frame))
    const finish = async (): Promise<void> => {
      const ended = await this.find(scope, null, id)
      if (ended !== null && isOver(ended.document)) shown.end(ended.document)
      body.end()
    }
    const stream = new ShownStream(body, shown, {
      more: () => control.resume(),
      end: () => void finish().catch(() => body.end()),
    })
    const control = this.#host.feed.follow(id, 0, { at: 'idle' }).start(stream)
    return { contentType: 'text/event-stream', bytes: body, headers: streamHeaders }
  }
}

/** Whether the response has reached a final status. */
const isOver = ({ status }: ResponseDocument): boolean => status !== 'queued' && status !== 'in_progress'
