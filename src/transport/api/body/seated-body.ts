import type { HttpRequest } from '#transport/http/http-port.ts'
import type { Exchange } from '../exchange.ts'
import { LimitedResponse } from '../limited-response.ts'
import { type BodyMemory, type BodyReservation, countedBytes } from './body-memory.ts'

/** Where memory for a body is reserved. `most`: maximum body size of the operation in bytes. */
export interface Seating {
  readonly room: BodyMemory
  readonly project: string
  readonly most: number
}

/**
 * Reserves memory for the body of a request; null for a short one. A body of undeclared length counts as the maximum
 * until it has arrived. The exchange holds the seat: one use ends with its answer, the other with the exchange.
 *
 * @throws {ServiceError} `overloaded`
 */
export const seatedBody = async (
  exchange: Exchange,
  { room, project, most }: Seating,
): Promise<BodyReservation | null> => {
  const seat = await seatFor(exchange.request, { room, project, most })
  if (seat === null) return null
  exchange.seat = seat
  let isAnswered = false
  exchange.response = new LimitedResponse(exchange.response, () => {
    if (!isAnswered) seat.done()
    isAnswered = true
  })
  return seat
}

/** The same for a request without an exchange: the caller releases the seat. @throws {ServiceError} `overloaded` */
export const seatFor = async (
  request: HttpRequest,
  { room, project, most }: Seating,
): Promise<BodyReservation | null> => {
  const bytes = Math.min(announced(request) ?? most, most)
  return bytes < countedBytes ? null : room.enter(project, bytes)
}

/** Declared length of the body in bytes; undefined when it is not declared. */
const announced = (request: HttpRequest): number | undefined => {
  if (request.header('transfer-encoding') !== undefined) return undefined
  return Number(request.header('content-length') ?? 0)
}
