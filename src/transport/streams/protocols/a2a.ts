import type { A2aProtocol } from '#actors/call/call.ts'
import type { EventReader } from '#actors/call/speaker.ts'
import { errorMessage, outputArtifact, waitingMessage, waitingState } from '#actors/runs/a2a/a2a-task.ts'
import { shownPayload } from '#records/shown-event.ts'
import { isObject } from '#runtime/index.ts'
import type { StreamEndReason } from '#specs/events/events.ts'
import type { Json, JsonObject, LogEvent } from '#storage/index.ts'
import { text } from './shown-call.ts'
import { dataFrame, endedWords, type Translator } from './translator.ts'

/** A run's events as the updates of a task in A2A: the task first, then what changes. */
export class A2a implements Translator {
  readonly #protocol: A2aProtocol
  readonly #reader: EventReader
  #isStarted = false

  constructor(protocol: A2aProtocol, reader: EventReader) {
    this.#protocol = protocol
    this.#reader = reader
  }

  frames(events: readonly LogEvent[]): string {
    const { seen } = this.#protocol
    let frames = this.#start()
    for (const event of events)
      if (event.sequence > seen) for (const update of this.#of(event)) frames += this.#frame(update)
    return frames
  }

  end(reason: 'done' | StreamEndReason): string {
    const begun = this.#start()
    if (reason === 'done') return begun
    const message = endedWords[reason]
    const { rpcId } = this.#protocol
    if (rpcId !== null) return begun + dataFrame({ jsonrpc: '2.0', id: rpcId, error: { code: internalError, message } })
    return `${begun}event: error\n${dataFrame({ error: { code: 403, status: 'PERMISSION_DENIED', message } })}`
  }

  #start(): string {
    if (this.#isStarted) return ''
    this.#isStarted = true
    return this.#frame({ task: this.#protocol.task })
  }

  #frame(result: JsonObject): string {
    const { rpcId } = this.#protocol
    return dataFrame(rpcId === null ? result : { jsonrpc: '2.0', id: rpcId, result })
  }

  #of(event: LogEvent): readonly JsonObject[] {
    const payload = shownPayload(event, this.#reader)
    switch (event.event_type) {
      case 'run.started':
      case 'run.action.approved':
      case 'run.action.rejected':
      case 'run.action.answered':
      case 'run.action.connected':
        return [this.#status('TASK_STATE_WORKING')]
      case 'run.requires_action':
        return [this.#waits(payload)]
      case 'run.completed':
        return [this.#output(payload.output ?? null), this.#status('TASK_STATE_COMPLETED')]
      case 'run.failed':
      case 'run.expired':
        return [this.#status('TASK_STATE_FAILED', this.#error(payload.error))]
      case 'run.cancelled':
        return [this.#status('TASK_STATE_CANCELED')]
      default:
        return []
    }
  }

  #status(state: string, more: JsonObject = {}): JsonObject {
    const { taskId, contextId } = this.#protocol
    return { statusUpdate: { taskId, contextId, status: { state, ...more } } }
  }

  #waits({ action_id, tool, reason, arguments: input = {}, input: form, connection }: JsonObject): JsonObject {
    const { taskId, contextId } = this.#protocol
    const call = {
      ...{ action_id: text(action_id), tool: text(tool), reason: text(reason), arguments: input },
      ...(form !== undefined && { input: form }),
      ...(connection !== undefined && { connection }),
    }
    return this.#status(waitingState([call]), { message: waitingMessage(taskId, contextId, [call]) })
  }

  #output(output: Json): JsonObject {
    const { taskId, contextId } = this.#protocol
    return { artifactUpdate: { taskId, contextId, artifact: outputArtifact(output), append: false, lastChunk: true } }
  }

  #error(error: Json | undefined): JsonObject {
    const { taskId, contextId } = this.#protocol
    return isObject(error) ? { message: errorMessage(taskId, contextId, error) } : {}
  }
}

const internalError = -32603
