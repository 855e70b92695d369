import type { StreamEndReason } from '#specs/events/events.ts'

/** Last frame of a stream that the server ends before its log has ended (`stream.ended`). */
export const endedFrame = (reason: StreamEndReason) => ({ event: 'stream.ended', data: { reason } }) as const
