import type { Principal } from '#actors/call/call.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'
import type { Exchange } from '../exchange.ts'
import { LimitedResponse } from '../limited-response.ts'
import { type BodyMemory, type BodyReservation, countedBytes } from './body-memory.ts'
import { isShown, memoryOwner } from './memory-owner.ts'

/** Where memory for a body is reserved, and for whom. `max`: maximum body size of the operation in bytes. */
export interface Seating {
  readonly room: BodyMemory
  readonly principal: Principal
  /** Returns the address of the client, which has a cost to determine. */
  readonly addressOf: () => string
  readonly max: number
}

/** A body that may be read. `reserved`: its memory; null for a short one. `isHurried`: its sender is a browser. */
export interface BodySeat {
  readonly reserved: BodyReservation | null
  readonly isHurried: boolean
}

/**
 * Admits the body of a request. The exchange holds its memory: one use ends with its answer, the other with the
 * exchange.
 *
 * @throws {ServiceError} `overloaded`
 */
export const seatedBody = async (exchange: Exchange, seating: Seating): Promise<BodySeat> => {
  const seat = await seatFor(exchange.request, seating)
  const { reserved } = seat
  if (reserved === null) return seat
  exchange.seat = reserved
  let isAnswered = false
  exchange.response = new LimitedResponse(exchange.response, () => {
    if (!isAnswered) reserved.done()
    isAnswered = true
  })
  return seat
}

/** The same for a request without an exchange: the caller releases the memory. @throws {ServiceError} `overloaded` */
export const seatFor = async (
  request: HttpRequest,
  { room, principal, addressOf, max }: Seating,
): Promise<BodySeat> => {
  const isHurried = isShown(principal)
  const bytes = Math.min(announced(request) ?? max, max)
  if (bytes < countedBytes) return { reserved: null, isHurried }
  return { reserved: await room.admit(memoryOwner(principal, addressOf), bytes), isHurried }
}

/** Reads a body, whose bytes count as they arrive. @throws {ServiceError} `overloaded`, and what `body` throws. */
export const bytesInto = async (seat: BodySeat, request: HttpRequest, max: number): Promise<Buffer> => {
  const { reserved, isHurried } = seat
  const bytes = await request.body(max, { listener: reserved, isHurried })
  reserved?.hold(bytes.length)
  return bytes
}

/** Declared length of the body in bytes; undefined when it is not declared. */
const announced = (request: HttpRequest): number | undefined => {
  if (request.header('transfer-encoding') !== undefined) return undefined
  return Number(request.header('content-length') ?? 0)
}
