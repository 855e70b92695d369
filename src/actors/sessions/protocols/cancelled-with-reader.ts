import type { StreamAnswer } from '#actors/call/call.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { contextOf, newId } from '#runtime/index.ts'
import type { Host } from '#runtime/internal.ts'

/** The same answer; when its reader disconnects before it ends, the turn that was read is cancelled. */
export const cancelledWithReader = (host: Host, session: string, answer: StreamAnswer): StreamAnswer => {
  const { stream } = answer
  return {
    ...answer,
    stream: {
      ...stream,
      start: (sink) => {
        let turn: number | undefined
        let isOver = false
        const control = stream.start({
          push: (events) => {
            turn = events.at(-1)?.turn_number ?? turn
            return sink.push(events)
          },
          end: (reason) => {
            isOver = true
            sink.end(reason)
          },
        })
        const stop = (): void => {
          control.stop()
          if (!isOver && turn !== undefined) void cancel(host, session, turn)
          isOver = true
        }
        return { resume: () => control.resume(), stop }
      },
    },
  }
}

/** Cancels a turn, unless it has ended. */
const cancel = async (host: Host, id: string, turn: number): Promise<void> => {
  try {
    const session = await host.load(id)
    if (session === null || contextOf(sessionDefinition, session.state.snapshot).turn !== turn) return
    await host.deliverTo(session, { event: { type: 'cancel' }, cause: newId('req') })
  } catch {
    // the turn has ended, or goes on while the store is unavailable
  }
}
