import type { Logger } from 'pino'
import type { Caller } from '#gateway/call/caller.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import type { OpenThread, ThreadRequest, ThreadStore } from './thread-store.ts'

/** The thread of one request. */
export interface ThreadSession {
  /** All messages of the conversation. */
  readonly messages: BodyOf<'messages.create'>['messages']
  /** Stores the complete answer. Failures are only logged: the client then sends the whole conversation again. */
  keep(id: string, content: unknown): Promise<void>
  release(): Promise<void>
}

const unthreaded = async (): Promise<void> => {}

/**
 * Opens the thread that a request names. Without a thread, the messages are those of the request, and nothing is
 * stored.
 * @throws {ServiceError}
 */
export const threadSessionOf = async (
  { threads, log }: { readonly threads: ThreadStore; readonly log: Logger },
  caller: Caller,
  { thread, messages }: Pick<BodyOf<'messages.create'>, 'thread' | 'messages'>,
): Promise<ThreadSession> => {
  if (thread === undefined || thread === null) return { messages, keep: unthreaded, release: unthreaded }
  const open: OpenThread = await threads.open(caller, threadOf(thread), messages)
  const failed = (err: unknown): void => log.warn({ err }, 'thread of messages not written')
  return {
    messages: open.messages,
    keep: (id, content) => threads.keep(caller, open, { id, content }).catch(failed),
    release: () => threads.release(caller, open).catch(failed),
  }
}

const threadOf = ({
  type,
  previous_message_id: id,
}: NonNullable<BodyOf<'messages.create'>['thread']>): ThreadRequest => {
  if (type === 'create') return { type }
  if (id !== undefined && id !== '') return { type: 'continue', previous_message_id: id }
  throw new ServiceError('missing_field', { param: 'thread.previous_message_id' })
}
