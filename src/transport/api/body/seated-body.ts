import type { HttpRequest } from '#transport/http/http-port.ts'
import type { Exchange } from '../exchange.ts'
import { SeatedResponse } from '../seated-response.ts'
import { type BodyRoom, type BodySeat, countedBytes } from './body-room.ts'

/** Where a body is to have room. `most`: bytes that its operation takes. */
export interface Seating {
  readonly room: BodyRoom
  readonly project: string
  readonly most: number
}

/**
 * Waits for room for the body of a request; null for a short one. One whose length is not said is taken for the longest until
 * it has come. The exchange has the seat, and gives it back with its answer and at its end.
 *
 * @throws {ServiceError} `overloaded`
 */
export const seatedBody = async (exchange: Exchange, { room, project, most }: Seating): Promise<BodySeat | null> => {
  const seat = await seatFor(exchange.request, { room, project, most })
  if (seat === null) return null
  exchange.seat = seat
  let isAnswered = false
  exchange.response = new SeatedResponse(exchange.response, () => {
    if (!isAnswered) seat.done()
    isAnswered = true
  })
  return seat
}

/** The same for a request without an exchange: its caller gives the seat back. @throws {ServiceError} `overloaded` */
export const seatFor = async (request: HttpRequest, { room, project, most }: Seating): Promise<BodySeat | null> => {
  const bytes = Math.min(announced(request) ?? most, most)
  return bytes < countedBytes ? null : room.enter(project, bytes)
}

/** Bytes of the body as its sender says; undefined where it does not say. */
const announced = (request: HttpRequest): number | undefined => {
  if (request.header('transfer-encoding') !== undefined) return undefined
  return Number(request.header('content-length') ?? 0)
}
