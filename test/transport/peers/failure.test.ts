import { expect, it } from 'vitest'
import { Overloaded } from '#runtime/overloaded.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { errorOf, failureOf } from '#transport/peers/failure.ts'

const travelled = (error: unknown) => {
  const failure = failureOf(error)
  return failure === undefined ? undefined : errorOf(JSON.parse(JSON.stringify(failure)))
}

it('an Overloaded error reaches the other process as a refusal, and a defect is not transferred', () => {
  expect(travelled(new Overloaded('1000 deliveries wait'))).toBeInstanceOf(ServiceError)
  expect(travelled(new Overloaded('1000 deliveries wait'))).toMatchObject({ code: 'overloaded' })
  expect(travelled(new StoreUnavailable('no primary'))).toBeInstanceOf(StoreUnavailable)
  expect(travelled(new TypeError('a bug'))).toBeUndefined()
})
