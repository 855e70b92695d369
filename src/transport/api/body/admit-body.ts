import type { Principal } from '#actors/call/call.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'
import type { Exchange } from '../exchange.ts'
import { LimitedResponse } from '../limited-response.ts'
import { type BodyMemory, type BodyReservation, countedBytes } from './body-memory.ts'
import { isShown, memoryOwner } from './memory-owner.ts'

/** Where memory for a body is reserved, and for whom. `max`: maximum body size of the operation in bytes. */
export interface Admission {
  readonly memory: BodyMemory
  readonly principal: Principal
  /** Returns the address of the client, which has a cost to determine. */
  readonly addressOf: () => string
  readonly max: number
}

/** A body that may be read. `reserved`: its memory; null for a short one. `isHurried`: its sender is a browser. */
export interface AdmittedBody {
  readonly reserved: BodyReservation | null
  readonly isHurried: boolean
}

/**
 * Admits the body of a request. The exchange holds its memory: one use ends with its answer, the other with the
 * exchange.
 *
 * @throws {ServiceError} `overloaded`
 */
export const admitBody = (exchange: Exchange, admission: Admission): AdmittedBody | Promise<AdmittedBody> => {
  const admitted = admittedBody(exchange.request, admission)
  return admitted instanceof Promise ? admitted.then((late) => held(exchange, late)) : held(exchange, admitted)
}

const held = (exchange: Exchange, reservation: AdmittedBody): AdmittedBody => {
  const { reserved } = reservation
  if (reserved === null) return reservation
  exchange.reservation = reserved
  let isAnswered = false
  exchange.response = new LimitedResponse(exchange.response, () => {
    if (!isAnswered) reserved.done()
    isAnswered = true
  })
  return reservation
}

/** The same for a request without an exchange: the caller releases the memory. @throws {ServiceError} `overloaded` */
export const admittedBody = (
  request: HttpRequest,
  { memory, principal, addressOf, max }: Admission,
): AdmittedBody | Promise<AdmittedBody> => {
  const isHurried = isShown(principal)
  const bytes = Math.min(announced(request) ?? max, max)
  if (bytes < countedBytes) return { reserved: null, isHurried }
  const reserved = memory.admit(memoryOwner(principal, addressOf), bytes)
  if (reserved instanceof Promise) return reserved.then((late) => ({ reserved: late, isHurried }))
  return { reserved, isHurried }
}

/** Reads a body, whose bytes count as they arrive. @throws {ServiceError} `overloaded`, and what `body` throws. */
export const bytesInto = (
  { reserved, isHurried }: AdmittedBody,
  request: HttpRequest,
  max: number,
): Promise<Buffer> => {
  const reading = request.body(max, { listener: reserved, isHurried })
  if (reserved === null) return reading
  return reading.then((bytes) => {
    reserved.hold(bytes.length)
    return bytes
  })
}

/** Declared length of the body in bytes; undefined when it is not declared. */
const announced = (request: HttpRequest): number | undefined => {
  if (request.header('transfer-encoding') !== undefined) return undefined
  return Number(request.header('content-length') ?? 0)
}
